"""Commits: the transactions that make revisions current or delete documents, with synonyms and tombstones.

Read `commits.py` first: it plans a commit and performs the small ones. `slices.py` performs the large ones.
"""
