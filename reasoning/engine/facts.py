"""`format_facts`: facts of the graph in a prompt, below the passages that assert them."""

from collections.abc import Sequence

from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced

__all__ = ["format_facts"]


def format_facts(facts: Sequence[Fact], passages: Sequence[Hit]) -> str:
    """Returns the facts with the numbers of their passages, each once; '' if there are none.

    A fact of a passage that is not shown is left out, because there is no number to cite it by.
    """
    numbers = {hit.chunk.id: number for number, hit in enumerate(passages, start=1)}
    lines = [
        f"[{numbers[fact.chunk_id]}] {' '.join(f'{fact.subject} — {fact.predicate} — {fact.object}'.split())}"
        for fact in facts
        if fact.chunk_id in numbers
    ]
    if not lines:
        return ""
    told = fenced("facts", "\n".join(dict.fromkeys(lines)))
    return f"Facts drawn from the passages, by their numbers:\n{told}"
