"""Names of the entities of a snapshot: packed texts, and an index by hash."""
