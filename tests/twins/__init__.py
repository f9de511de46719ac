"""In-memory twins of what cannot be had in a test."""
