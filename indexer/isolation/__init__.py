"""Isolation of loaders: binary files are parsed in a process of its own, with limits and without network or secrets.

`isolated_loader.py` is the entry point; `parser_process.py` is the parent's side, `parser.py` runs in the child.
"""
