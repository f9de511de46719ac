"""Export of a corpus: JSON lines, GraphML, CSV."""
