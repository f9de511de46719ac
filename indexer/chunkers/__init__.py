"""Chunkers by file name: `Chunker` strategies over `indexer.chunking.packing`."""
