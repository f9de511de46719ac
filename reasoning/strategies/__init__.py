"""Reasoners. Each is a module or a package whose name users write in settings, on the command line and in the API."""
