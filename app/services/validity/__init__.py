"""When documents are in force, for searches and questions, and what changed between two of them."""

from app.services.validity.amendments import Amendments, quote_amendments
from app.services.validity.comparison import Differences, compare_documents
from app.services.validity.conflicts import settle_conflicts, show_conflicts
from app.services.validity.in_force import Selection, find_validity, list_related, open_register, select_in_force

__all__ = [
    "Amendments",
    "Differences",
    "Selection",
    "compare_documents",
    "find_validity",
    "list_related",
    "open_register",
    "quote_amendments",
    "select_in_force",
    "settle_conflicts",
    "show_conflicts",
]
