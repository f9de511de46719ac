"""Summaries of similar passages, of which a tree over a corpus is made (RAPTOR, arXiv 2401.18059)."""
