"""Hits as users read them: snippets with marked words, neighbouring passages, and one hit for each document."""

from retrieval.presentation.grouping import search_by_document
from retrieval.presentation.pages import PresentedHit, SearchPage, present
from retrieval.presentation.snippets import Snippet, make_snippet

__all__ = ["PresentedHit", "SearchPage", "Snippet", "make_snippet", "present", "search_by_document"]
