"""The model call that summarizes a group of passages, and what it costs. Its prompt is `summarize_cluster.md`."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from core.errors import ModelFailed
from core.ids import digest
from core.ports.chat import ChatModels, ChatRequest
from core.prompting.fences import format_passages
from core.prompting.prompts import load_prompt
from core.prompting.structured import complete_structured
from core.trace import Trace

TREE_ROLE = "summarize_cluster"
SUMMARY_TOKENS = 131
"""The mean length of a summary in the paper (appendix C); the prompt asks for about as much."""


@dataclass(frozen=True, kw_only=True)
class TreeNode:
    """A passage of a tree: a leaf, or a summary. `name` tells people which passage it is; `tokens` is the length of its
    text in tokens of the embedding model.
    """

    chunk_id: str
    view_id: str
    name: str
    title: str
    text: str
    tokens: int


class _Summarized(BaseModel):
    summary: str = Field(max_length=20_000)


def fingerprint_summary(children: Sequence[TreeNode], models: ChatModels) -> str:
    """Returns a digest of all that a summary depends on: the passages, the model and the prompt."""
    prompt = load_prompt("indexer.summary_tree", TREE_ROLE)
    return digest("summary", [prompt.hash, models.of(TREE_ROLE).model, *(child.chunk_id for child in children)])


async def summarize_cluster(children: Sequence[TreeNode], models: ChatModels, corpus_id: str, trace: Trace) -> str:
    """Returns the summary of passages of a corpus as one paragraph.

    Raises what `complete_structured` raises, and `ModelFailed` for an empty summary.
    """
    prompt = load_prompt("indexer.summary_tree", TREE_ROLE)
    passages = format_passages([({"title": child.title} if child.title else {}, child.text) for child in children])
    request = ChatRequest(
        role=TREE_ROLE,
        messages=prompt.messages({"passages": passages}),
        prompt_hash=prompt.hash,
        reply=prompt.reply,
        corpus_id=corpus_id,
        chunk_ids=frozenset(child.chunk_id for child in children),
        labels={"passages": " ".join(child.name for child in children)},
    )
    reply = await complete_structured(models.of(TREE_ROLE), request, _Summarized, trace)
    summary = " ".join(reply.summary.split())
    if not summary:
        raise ModelFailed(f"step {TREE_ROLE!r}: {models.of(TREE_ROLE).model} wrote an empty summary; try another model")
    return summary
