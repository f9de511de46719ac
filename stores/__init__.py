"""Adapters to databases, files and search engines: one folder a technology, one file a port."""
