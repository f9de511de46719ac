"""Adapters for databases, files and search engines: one folder for each technology, one class for each port."""
