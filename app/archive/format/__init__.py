"""The format of archive files: rows, lines and sections."""
