"""Chunkers by file name: `Chunker` strategies over `indexer.packing`."""
