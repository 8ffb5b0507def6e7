def values(rng):
    north, south = rng.randint(10, 40), rng.randint(10, 40)
    return {"north": "#" * north, "south": "#" * south, "marks": north + south}
