"""From a question to Personalized PageRank mass: name linking, seeds, forward push, paths."""
