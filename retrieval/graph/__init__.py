"""The graph in memory: snapshots, linking of names, Personalized PageRank."""
