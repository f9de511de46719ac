"""The routes of the graph: entities, and merges of them."""
