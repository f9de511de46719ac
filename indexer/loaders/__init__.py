"""Loaders by file name; each module names the `MEDIA_TYPES` and `SUFFIXES` that it reads."""
