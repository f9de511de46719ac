"""Hopweave from Python."""
