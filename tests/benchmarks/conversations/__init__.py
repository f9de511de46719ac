"""Retrieval in conversations: the last question as it is, with what came before it, and as the prompt restates it.

`conversations.jsonl` holds conversations over MuSiQue (CC BY 4.0) and HotpotQA (CC BY-SA 4.0), with the passages that
answer the last question, what was expected of its restatement, and the restatement of a reader of the prompt.
"""

from tests.benchmarks.conversations.measuring import checks, measure, table

__all__ = ["checks", "measure", "table"]
