"""The parts of LevelRAG: low-level searchers, each with its own rewriting, and the high-level searcher over them."""
