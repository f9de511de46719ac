"""Hits as users read them: snippets with marked words, neighbouring passages, and one hit for each document."""

from retrieval.presentation.grouping import search_by_document
from retrieval.presentation.pages import PresentedHit, SearchPage, present
from retrieval.presentation.snippets import Snippet

__all__ = ["PresentedHit", "SearchPage", "Snippet", "present", "search_by_document"]
