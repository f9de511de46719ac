"""Questions over all rows of one table, answered by code: the highest price, a total per supplier, a count.

`asked` reads the question, `tables` reads all rows of the tables of a document, `fitting` compares both, `computing`
makes the value, and `answering` chooses the table and writes the answer.
"""

from reasoning.strategies.extractive.over_rows.answering import NOTE, RowsAnswer, answer_over_rows

__all__ = ["NOTE", "RowsAnswer", "answer_over_rows"]
