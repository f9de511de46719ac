"""Reports of experiments: scores over all rows, comparisons, thresholds, tables for the terminal, and JSON."""
