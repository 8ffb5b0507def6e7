"""Scorecard and trials in, text out. One file each."""
