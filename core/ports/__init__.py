"""Protocols that adapters fill and strategies see; each docstring fixes the edge cases for every backend."""
