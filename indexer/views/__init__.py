"""Writing, repairing and deleting the entries of the derived indexes."""
