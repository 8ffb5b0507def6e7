"""Regression files against releases of a package, each in an environment of its own.

A release is convicted where the plan ends badly and the same agent passes the same scenario without it. The
package under test is never imported here: a cell is played by the Python of its environment.
"""
