"""Stored questions in Neo4j: the port, and what deletions do to them."""

from stores.neo4j.questions.questions import Neo4jQuestions
from stores.neo4j.questions.rows import delete_of_key, delete_some_questions, move_questions, withdraw

__all__ = ["Neo4jQuestions", "delete_of_key", "delete_some_questions", "move_questions", "withdraw"]
