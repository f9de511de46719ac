"""Stored questions in SQLite: the port, and what deletions do to them."""

from stores.sqlite.questions.questions import SqliteQuestions
from stores.sqlite.questions.rows import delete_of_key, move_questions, withdraw

__all__ = ["SqliteQuestions", "delete_of_key", "move_questions", "withdraw"]
