"""Reasoners: one module each, named as in settings, command line and API."""
