"""Entities and their neighbourhoods, and merges of entities."""
