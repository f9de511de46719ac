"""Ports: the protocols that adapters implement and strategies use. Docstrings fix the edge cases for every backend."""
