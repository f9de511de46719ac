"""A final answer as it is written: pieces as events, each marker held back until it is whole and names a source."""

import re
from collections.abc import Callable

from core.events import TokenEvent
from core.prompting.structured import strip_thinking
from core.trace import Trace
from reasoning.citations.citing import MARKERS, marked

__all__ = ["ABSTAINED", "TokenStream", "abstains"]

ABSTAINED = "NO ANSWER"
"""What a model is asked to write where its sources do not hold the answer."""

_OPEN = re.compile(r"\s*(?:\[[-–\d\s,;，、；\[]*)?\Z")


_AROUND = " .\"'*\n\t"
_THINKS = "<think"
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def abstains(text: str) -> bool:
    """Whether the text is the abstention and nothing else, whatever marks are around it."""
    return text.strip(_AROUND) == ABSTAINED


class TokenStream:
    """Give it pieces; it emits what can be shown. `sources` is how many may be cited; with `after`, nothing is shown
    before that word has come (what a model thinks aloud before its answer is not part of it). Nor is what it thinks
    between tags.
    """

    def __init__(self, trace: Trace, sources: int, after: str = "") -> None:
        self._emit: Callable[[str], None] = lambda text: trace.emit(TokenEvent(text=text))
        self.sources = sources
        self._after = after
        self._held = ""
        self._begun = False

    def __call__(self, piece: str) -> None:
        self._held += piece
        if not self._begun and not self._begins():
            return
        ready = _OPEN.sub("", self._held, count=1)
        self._held = self._held[len(ready) :]
        if ready:
            self._begun = True
            self._emit(MARKERS.sub(self._valid, ready))

    def end(self) -> None:
        """Show what was held back and is no abstention, nor reasoning that was never ended."""
        held = self._held if self._begun else strip_thinking(self._held)
        if held.strip() and not (abstains(held) and not self._begun) and not self._after:
            self._emit(MARKERS.sub(self._valid, held))
        self._held = ""

    def _begins(self) -> bool:
        """Whether what is held is the answer's beginning: no reasoning, and no abstention that may yet be whole."""
        while self._held.lstrip()[: len(_THINKS)].lower() == _THINKS:
            ended = _THOUGHT.search(self._held)
            if not ended:
                return False
            self._held = self._held[ended.end() :]
        if _THINKS.startswith(self._held.strip().lower()):
            return False
        if self._after:
            _, found, rest = self._held.partition(self._after)
            if not found:
                return False
            self._after, self._held = "", rest
        return not ABSTAINED.startswith(self._held.strip(_AROUND))

    def _valid(self, found: re.Match[str]) -> str:
        numbers = [str(number) for number in marked(found) if 1 <= number <= self.sources]
        space = found[0][: found[0].index("[")]
        return f"{space}[{', '.join(numbers)}]" if numbers else ""
