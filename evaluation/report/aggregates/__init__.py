"""Scores over all rows of a strategy, their means over datasets, and comparisons with a baseline; pure."""
