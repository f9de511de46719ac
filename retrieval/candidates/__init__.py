"""Candidates of a question: pooling, fusion, and the hits that callers see."""
