"""Queued revisions, claims and revision states."""
