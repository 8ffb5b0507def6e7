"""What every adapter has to keep, run with the real framework: see test_conformance.py.

One file here is one framework's kit: how a user of it builds an agent over plain functions, and runs it.
"""
