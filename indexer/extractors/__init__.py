"""Extractors by file name; they are combined with '+' (`indexer.extraction`)."""
