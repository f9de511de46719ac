"""Export of a corpus as JSON lines, GraphML or CSV."""
