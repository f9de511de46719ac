"""Documents that docling has read: its JSON (`document.py`), the order of its parts (`parts.py`), and their text.

`reply.py` is the loader of what docling-serve replies, `local.py` the loader that runs docling itself.
"""
