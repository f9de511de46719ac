"""Measures: per question, their means, and thresholds on them."""
