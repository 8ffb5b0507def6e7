"""Small helpers for numbers."""


def divide(a, b):
    return a / b


# end of math_helper.py
