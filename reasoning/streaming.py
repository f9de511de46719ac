"""A final answer as it is written: pieces as events, each marker held back until it is whole and names a source."""

import re
from collections.abc import Callable

from core.events import TokenEvent
from core.trace import Trace

__all__ = ["ABSTAINED", "TokenStream"]

ABSTAINED = "NO ANSWER"
"""What a model is asked to write where its sources do not hold the answer."""

_OPEN = re.compile(r"\s*(?:\[[\d\s,;]*)?\Z")
_MARKER = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")


class TokenStream:
    """Give it pieces; it emits what can be shown. `sources` is how many may be cited; with `after`, nothing is shown
    before that word has come (what a model thinks aloud before its answer is not part of it).
    """

    def __init__(self, trace: Trace, sources: int, after: str = "") -> None:
        self._emit: Callable[[str], None] = lambda text: trace.emit(TokenEvent(text=text))
        self._sources = sources
        self._after = after
        self._held = ""
        self._begun = False

    def __call__(self, piece: str) -> None:
        self._held += piece
        if self._after:
            _, found, rest = self._held.partition(self._after)
            if not found:
                return
            self._after, self._held = "", rest
        if not self._begun and (ABSTAINED.startswith(self._held.strip()) or "<think".startswith(self._held.strip())):
            return  # it may yet be an abstention, or reasoning
        if self._held.lstrip().startswith("<think"):
            _, ended, rest = self._held.partition("</think")
            if not ended or ">" not in rest:
                return
            self._held = rest.partition(">")[2]
        if self._held.strip() == ABSTAINED:
            return
        ready = self._held[: _OPEN.search(self._held).start()]  # type: ignore[union-attr]  # it matches the empty end
        self._held = self._held[len(ready) :]
        if ready:
            self._begun = True
            self._emit(_MARKER.sub(self._valid, ready))

    def end(self) -> None:
        """Show what was held back and is no abstention."""
        if self._held.strip() and self._held.strip() != ABSTAINED and not self._after:
            self._emit(_MARKER.sub(self._valid, self._held))
        self._held = ""

    def _valid(self, found: re.Match[str]) -> str:
        numbers = [n for n in re.findall(r"\d+", found[1]) if 1 <= int(n) <= self._sources]
        return f"[{', '.join(numbers)}]" if numbers else ""
