"""Worker processes and their supervision."""
