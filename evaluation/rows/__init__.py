"""Rows: the result of one question, by searcher and by reasoner, and the file that stores them."""
