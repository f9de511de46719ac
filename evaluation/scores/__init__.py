"""Measures of one question's result, and the paired bootstrap."""
