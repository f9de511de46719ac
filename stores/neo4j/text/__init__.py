"""The text index, a view, in Neo4j's full-text index."""
