"""The graph of a corpus in SQLite: its rows, whole or as changes, and the merges of its entities."""
