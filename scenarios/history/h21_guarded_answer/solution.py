def values(rng):
    first, second, third = (rng.randint(100, 999) for _ in range(3))
    return {"first": first, "second": second, "third": third, "total": first + second + third}
