"""Candidates of a question: what the views find, the pool of all signals, and how ranked chunks become hits."""
