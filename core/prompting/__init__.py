"""Prompts: loading them from files, fencing documents' text, and reading structured answers."""
