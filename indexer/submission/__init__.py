"""Files, folders and JSON lines as submissions."""
