"""Measurements of what an operator sees: the cost of a command, of a server under load, of its start, of its size."""
