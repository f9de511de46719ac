"""`ModelCall`: one call of a model as an action describes it, the request that the call becomes, and its streamed
answer.

- The request has prompt, passages, facts, instructions and history as messages. `drop_last_passages` makes a call
  shorter that is too long, and `name_step_in_errors` names the step in the call's errors.
- `AnswerStream` is the final answer as events while a model writes it. Markers are held back until they are whole.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from jiter import from_json

from core.errors import ContextTooLong, HopweaveError, ModelFailed, ModelRefused, ModelUnavailable
from core.events import TokenEvent
from core.ports.chat import ChatRequest, Completion, Message
from core.ports.reasoning import Question
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced, format_hits
from core.prompting.prompts import Prompt
from core.prompting.structured import strip_thinking
from core.trace import Trace
from reasoning.citations.markers import MARKERS, parse_marker


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One call of a model by an action. `question` is the question that the call is about.

    `passages` fill the prompt's `{{passages}}`, numbered from 1; the last passages are dropped if the model cannot read
    them all. `facts` of the passages that are shown fill its `{{facts}}`. `role` selects the model and is the name that
    usage is counted under; '' is the prompt's name. `chunks` are ids of chunks whose words are in the variables, as
    quotes or answers. `conversation` puts the history before the last message. `sample`, `temperature`, `cached`,
    `given` and `max_tokens` have the meaning that they have in `ChatRequest`.
    """

    prompt: Prompt
    question: str
    role: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    passages: Sequence[Hit] = ()
    facts: Sequence[Fact] = ()
    chunks: frozenset[str] = frozenset()
    step: str = ""
    conversation: bool = False
    temperature: float = 0.0
    sample: int = 0
    cached: bool = True
    given: Callable[[], Completion] | None = None
    max_tokens: int | None = None


def drop_last_passages(shown: tuple[Hit, ...], error: ContextTooLong) -> tuple[Hit, ...]:
    """Returns the first two thirds of the passages, at least one. Raises `error` if there is only one passage."""
    if len(shown) <= 1:
        raise error
    return shown[: len(shown) * 2 // 3]


@contextmanager
def name_step_in_errors(request: ChatRequest) -> Iterator[None]:
    """Prefixes errors of the model with the request's role: the endpoint's own message does not name it."""
    try:
        yield
    except (ModelUnavailable, ModelFailed) as error:
        name = f"step {request.role!r}: "
        if str(error).startswith(name):
            raise
        kinds: tuple[type[HopweaveError], ...] = (ContextTooLong, ModelRefused, ModelFailed, ModelUnavailable)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(f"{name}{error}") from error


def format_facts(facts: Sequence[Fact], passages: Sequence[Hit]) -> str:
    """Returns the facts with the numbers of their passages, each once; '' without facts.

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


def build_request(call: ModelCall, question: Question, shown: Sequence[Hit], chunk_ids: frozenset[str]) -> ChatRequest:
    """Returns the request for a call that shows these passages. `question` is the user's question.

    `chunk_ids` are the chunks whose words the messages may hold: a cached answer is deleted with them. A call without
    passages may set the variable `passages` to say so in its own words. Conversations are not cached: it is not known
    which chunks their earlier answers are from.
    """
    variables = dict(call.variables)
    wanted = call.prompt.variables
    if "passages" in wanted and "passages" not in variables:
        variables["passages"] = format_hits(shown)
    if "facts" in wanted:
        variables["facts"] = format_facts(call.facts, shown)
    if "instructions" in wanted:
        variables["instructions"] = _format_instructions(question.instructions)
    system, *rest = call.prompt.messages(variables)
    history: tuple[Message, ...] = question.history if call.conversation else ()
    return ChatRequest(
        role=call.role or call.prompt.name,
        messages=(system, *history, *rest),
        prompt_hash=call.prompt.hash,
        reply=call.prompt.reply,
        corpus_id=question.corpus.id,
        chunk_ids=chunk_ids,
        question=call.question,
        labels={
            "step": call.step,
            "asked": question.text,
            "passages": " ".join(hit.document.key for hit in shown),
        },
        temperature=call.temperature,
        sample=call.sample,
        cacheable=not question.parts and not question.history,
        cached=call.cached,
        given=call.given,
        max_tokens=call.max_tokens,
    )


def _format_instructions(text: str) -> str:
    return f"How the answer is to be written:\n{fenced('instructions', text)}" if text.strip() else ""


_FIELD = "answer"
_GROWTH, _GROWTH_OF_LONG, _LONG = 256, 8, 20_000
"""The text is read again when it has grown by this part of its length, so that the time is linear in its length. Beyond
`_LONG` characters, which no honest answer has, it is read less often.
"""
_IN_MARKER = re.compile(r"[-–\d\s,;，、；\[]*")


class AnswerStream:
    """Takes the pieces of a JSON object as a model writes it, and emits its field `answer` as `TokenEvent`s.

    `sources` is the number of sources that may be cited; a marker of another number is left out, and the others are
    numbered as in the final answer, from 1 in the order of the text. The events are provisional: the object is
    validated only when it is whole.
    """

    def __init__(self, trace: Trace, sources: int) -> None:
        self.sources = sources
        self._trace = trace
        self._pieces: list[str] = []
        self._length = 0
        self._due = 0
        self._read = 0
        self._held = ""
        self._numbers: dict[int, int] = {}

    @property
    def has_begun(self) -> bool:
        """Whether a piece has come. What comes after an answer that failed does not continue it."""
        return self._length > 0

    def __call__(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length >= self._due:
            self._due = self._length + self._length // (_GROWTH if self._length < _LONG else _GROWTH_OF_LONG)
            self._advance()

    def _advance(self) -> None:
        self._pieces = ["".join(self._pieces)]
        answer = read_partial_answer(self._pieces[0])
        self._held += answer[self._read :]
        self._read = max(self._read, len(answer))
        ready = self._held[: _find_open_marker(self._held)]
        self._held = self._held[len(ready) :]
        self._emit(ready)

    def end(self) -> None:
        """Emits what was held back."""
        self._advance()
        self._emit(self._held.rstrip())
        self._held = ""

    def _emit(self, text: str) -> None:
        if text:
            self._trace.emit(TokenEvent(text=MARKERS.sub(self._keep_valid, text)))

    def _keep_valid(self, marker: re.Match[str]) -> str:
        valid = [number for number in parse_marker(marker) if 1 <= number <= self.sources]
        return "".join(f" [{self._numbers.setdefault(number, len(self._numbers) + 1)}]" for number in valid)


def _find_open_marker(text: str) -> int:
    """Returns where the marker begins that the end of the text may belong to, with the space before it."""
    found = _IN_MARKER.match(text[::-1])  # backwards, so that the time is linear
    start = text.find("[", len(text) - (found.end() if found else 0))
    return len(text[:start].rstrip() if start >= 0 else text.rstrip())


def read_partial_answer(text: str, *, closed: bool = False) -> str:
    """Returns the answer as far as it is written; '' if the text is no JSON object, or does not have it yet, or if the
    answer must be `closed`, and its closing quotation mark is missing.
    """
    _, opening, rest = strip_thinking(text).partition("{")
    try:
        value = from_json((opening + rest).encode(), partial_mode="on" if closed else "trailing-strings")
    except ValueError:  # prose, or text after the object
        return ""
    answer = value.get(_FIELD, "") if isinstance(value, dict) else ""
    return answer if isinstance(answer, str) else ""
