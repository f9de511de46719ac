"""Loaders by file name.

Each module names the `MEDIA_TYPES` and `SUFFIXES` that it reads, and an `EXAMPLE` file for its contract tests.
"""
