"""Markers and quotes to citations."""
