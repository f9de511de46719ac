"""Hits as users read them: snippets with marked words, neighbouring passages, and one hit for each document.

Also finds the cells of tables that the citations of an answer are about.
"""

from retrieval.presentation.cells import locate_cells, read_before
from retrieval.presentation.pages import PresentedHit, SearchPage, present, search_by_document
from retrieval.presentation.snippets import Snippet, make_snippet

__all__ = [
    "PresentedHit",
    "SearchPage",
    "Snippet",
    "locate_cells",
    "make_snippet",
    "present",
    "read_before",
    "search_by_document",
]
