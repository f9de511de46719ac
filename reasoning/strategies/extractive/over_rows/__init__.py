"""Questions over all rows of one table, answered by code: the highest price, a total per supplier, a count.

`question` reads the words of the question, `tables` reads all rows of the tables of a document, `fitting` compares
both, `computing` makes the value, `answering` chooses the table, and `writing` writes the answer.
"""

from reasoning.strategies.extractive.over_rows.answering import answer_over_rows
from reasoning.strategies.extractive.over_rows.writing import NOTE, RowsAnswer

__all__ = ["NOTE", "RowsAnswer", "answer_over_rows"]
