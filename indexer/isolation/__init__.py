"""Isolation of loaders: binary files are parsed in a process of its own, with limits and without network or secrets.

`parser_process.py` is the parent's side and the entry point (`IsolatedLoader`), `parser.py` runs in the child.
"""
