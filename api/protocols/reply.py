"""`Reply`: an answer as the text of a chat message, and `find_rest`: what of it a stream has still to send."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from api.protocols.sources import Source, format_block, list_sources
from app.services.links import Links
from core.ports.chat import Completion
from core.ports.reasoning import Answer
from core.trace import Trace

__all__ = ["Finish", "Reply", "find_rest", "reply_from_answer", "reply_from_completion"]

Finish = Literal["stop", "length"]

_REPLACED = "\n\n---\n\n"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The text of a message with its sources. `details` say how the answer came about, beside the message."""

    text: str
    sources: tuple[Source, ...] = ()
    finish: Finish = "stop"
    details: dict[str, Any] = field(default_factory=dict)


def reply_from_answer(
    answer: Answer, trace: Trace, *, address: str, links: Links, corpus: str, shown: str, stops: Sequence[str]
) -> Reply:
    """Returns the answer, its note, and its sources as `shown` (`both`, `inline` or `annotations`) says.

    The text ends before the first of `stops`.
    """
    sources = list_sources(answer, address, corpus, links)
    note = f"\n\n_{answer.note}_" if answer.note else ""
    block = "" if shown == "annotations" else format_block(sources)
    text = _cut(answer.text + note + block, stops)
    kept = tuple(source for source in sources if source.span.end <= len(text))
    details = {
        "reasoner": answer.reasoner,
        "support": str(answer.support),
        "abstained": answer.abstained,
        "notes": list(trace.notes),
    }
    return Reply(text=text, sources=() if shown == "inline" else kept, details=details)


def reply_from_completion(completion: Completion, stops: Sequence[str]) -> Reply:
    """Returns what a language model wrote, up to the first of `stops`: not every endpoint knows them."""
    return Reply(text=_cut(completion.text, stops), finish="length" if completion.cut else "stop")


def find_rest(sent: str, text: str) -> tuple[str, int]:
    """Returns what a stream that has sent `sent` has still to send, and where `text` begins in all that it sends.

    What a model writes is provisional. If the final text is another one, it follows the first below a line.
    """
    if text.startswith(sent):
        return text[len(sent) :], 0
    return _REPLACED + text, len(sent) + len(_REPLACED)


def _cut(text: str, stops: Sequence[str]) -> str:
    found = [at for stop in stops if (at := text.find(stop)) >= 0]
    return text[: min(found)] if found else text
