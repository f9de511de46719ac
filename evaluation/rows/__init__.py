"""Per-question rows and the files that hold them."""
