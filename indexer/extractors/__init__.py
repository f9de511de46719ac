"""Extractors by file name. `indexer.selection.extractors` makes them, and combines them with '+'."""
