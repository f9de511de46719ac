"""Attacks on a server beside honest clients: `python -m tests.benchmarks.hostile --datasets DIR`."""
