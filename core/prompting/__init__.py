"""Prompts: loading them from files, fencing documents' text, and parsing structured answers."""
