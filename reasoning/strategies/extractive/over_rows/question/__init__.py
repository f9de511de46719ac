"""What the words of a question over rows ask, before a table is looked at."""
