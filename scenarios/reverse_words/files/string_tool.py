"""Small helpers for text."""


def reverse_words(s):
    raise NotImplementedError


# end of string_tool.py
