"""Loaders by file name; each module names the `MEDIA_TYPES` and `SUFFIXES` that it reads, and has an `EXAMPLE`
of such a file for its contract tests.
"""
