"""The table of an answer as CSV: a row for each document or row of a table that a survey lists, for each group, and for
the total.
"""

import csv
import sys
from collections.abc import Mapping
from typing import Any

from app.export.exports import format_cell
from cli.output.console import print_status

_COLUMNS = ("kind", "group", "name", "value", "unit", "documents", "count", "corpus", "key", "title")


def print_answer_table(answer: Mapping[str, Any]) -> None:
    """Prints the table (RFC 4180), with the quotes and the first link of each document. What the survey covers goes to
    the standard error stream.
    """
    writer = csv.writer(sys.stdout)
    writer.writerow((*_COLUMNS, "quotes", "link"))
    for row in answer["table"]:
        cited = [
            citation
            for citation in answer["citations"]
            if citation["marker"] in row["markers"]
            and citation["document"]["key"] == row["key"]
            and row["name"] in " ".join(citation["quote"].split())  # rows of one passage share its marker
        ]
        # A number is no formula, also if it is negative.
        cells = [row[column] if column == "value" else format_cell(row[column]) for column in _COLUMNS]
        quotes = format_cell(" | ".join(dict.fromkeys(citation["quote"] for citation in cited)))
        links = [citation["link"] for citation in cited if citation["link"]]
        writer.writerow((*cells, quotes, links[0] if links else ""))
    if not answer["table"]:
        print_status("the answer lists no documents: ask the reasoner `survey` for a table")
    elif coverage := answer["answer"].rpartition("\n\n")[2]:
        print_status(coverage)
