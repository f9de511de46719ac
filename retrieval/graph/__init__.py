"""The graph of a corpus in memory: columns, adjacency, names, term statistics, and the cache of snapshots."""
