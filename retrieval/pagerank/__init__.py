"""Personalized PageRank: from a question's names to seed entities, mass on passages, and paths that explain it."""
