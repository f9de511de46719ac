"""The format of archive files: rows, lines, sections."""
