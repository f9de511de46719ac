"""Summaries of similar passages, which make a tree over a corpus (RAPTOR, arXiv 2401.18059)."""
