"""Two folders as a new user would bring them, with questions: `a` for development, `b` held out.

`documents.jsonl` says which packages the files come from, and their licences; `questions.jsonl` holds the questions
with the lines that answer them. `python -m tests.benchmarks.materials.folders` fetches the files and checks the lines.
Nobody tunes to `b`.
"""

from tests.benchmarks.materials.folders.documents import (
    NAMES,
    FolderDocument,
    FolderQuestion,
    Need,
    read_documents,
    read_questions,
)
from tests.benchmarks.materials.folders.laying import lay

__all__ = ["NAMES", "FolderDocument", "FolderQuestion", "Need", "lay", "read_documents", "read_questions"]
