"""Commits: making revisions current, in one transaction or in slices."""
