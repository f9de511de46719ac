"""Texts made to take a worker's time or memory. Work is bounded by sizes and counts: twice the text, twice the work."""

from collections.abc import Callable, Sequence

import pytest

from core.errors import LoadFailed
from core.execution.limits import WorkLimit, check_work
from core.ports.indexing import Block, DraftChunk, LoadedDocument, Source
from core.text.name_evidence import gather_evidence
from core.text.name_spans import find_names, iter_names
from core.text.sentences import iter_segments, segment
from indexer import Loaders, make_chunker
from models.embedding.tokens import EstimatedTokens
from tests.memory import find_peak

_GERMAN = "der die und das ist nicht den von zu mit " * 100
_HOSTILE = {
    "a line": lambda n: "zebra lamp stone " * (n // 17),
    "a word": lambda n: "a" * n,
    "single letters": lambda n: "A b " * (n // 4),
    "capitals": lambda n: "Aa " * (n // 3),
    "capitals in German": lambda n: _GERMAN + "Paket " * (n // 6),
    "brackets": lambda n: "(" * n,
    "sentence marks": lambda n: "." * n,
    "marks and spaces": lambda n: "! " * (n // 2),
    "invisible characters": lambda n: "\u200b" * n,
    "combining marks": lambda n: "a" + "\u0301" * n,
    "white space": lambda n: "A" + " " * n + "B",
    "empty lines": lambda n: "A" + "\n" * n + "B",
    "hashes": lambda n: "#" * n,
    "bars": lambda n: "|" * n,
    "quotations": lambda n: "> " * (n // 2),
    "less-than signs": lambda n: "<" * n,
    "backticks": lambda n: "` `` " * (n // 5),
    "quotes": lambda n: '"A ' * (n // 3),
    "nested lists": lambda n: "".join("  " * depth + "- a\n" for depth in range(int(n**0.5))),
    "headings": lambda n: "# H\n\n" * (n // 5),
    "a long heading": lambda n: "# " + "[" * n + "\n\ntext\n",
}
_KINDS = ("text/plain", "text/markdown")


class _CountingTokens(EstimatedTokens):
    """Counts the characters whose tokens are counted, and the most at once."""

    characters = 0
    at_once = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        size = sum(map(len, texts))
        self.characters += size
        self.at_once = max(self.at_once, size)
        return super().count(texts)


def _load(text: str, kind: str) -> LoadedDocument:
    source = Source(key="hostile", content=text.encode(), media_type=kind, title=None, metadata={})
    return Loaders().load(source)


def _chunk(text: str, kind: str) -> tuple[Sequence[DraftChunk], _CountingTokens]:
    tokens = _CountingTokens(256)
    return make_chunker("sentences").chunk(_load(text, kind), tokens), tokens


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("name", _HOSTILE)
def test_the_work_grows_with_the_text(name: str, kind: str) -> None:
    text = _HOSTILE[name](20_000)
    chunks, tokens = _chunk(text, kind)
    assert tokens.characters <= 30 * len(text) + 10_000
    assert max((len(chunk.text) for chunk in chunks), default=0) <= 64 * 257
    gather_evidence([text])


@pytest.mark.parametrize("name", ["single letters", "brackets"])
def test_the_pieces_of_a_text_are_not_all_in_memory(name: str) -> None:
    bound = find_peak(lambda: _chunk(_HOSTILE[name](150_000), "text/plain")) + 150_000 * 60
    long = find_peak(lambda: _chunk(_HOSTILE[name](300_000), "text/plain"), bound)
    assert long < bound, "each character was a piece of some 300 bytes"


def test_a_run_of_capitals_is_read_without_holding_it() -> None:
    text = "Aa " * 80_000
    bound = 1_000_000
    assert find_peak(lambda: sum(1 for _ in iter_names(text)), bound) < bound
    assert len(find_names(text)) == len(list(iter_names(text)))


def test_a_long_run_is_a_row_to_its_end() -> None:
    words = [f"Word{n}x" for n in range(1000)]
    assert [span.form for span in find_names(" ".join(words))] == words


def test_sentences_are_the_same_one_by_one() -> None:
    text = "1. An item. Another one! \n\n  2)  \n\nDr. Smith went. Home (he said).\n- a\n- b"
    assert list(iter_segments(text)) == segment(text)


def test_a_heading_of_a_megabyte_is_text() -> None:
    document = _load("# " + "x" * 1001 + "\n\n## Short\n\ntext\n", "text/markdown")
    assert [block.heading for block in document.blocks] == [(), ("Short",)]
    assert "x" * 1001 in document.blocks[0].text


def test_a_heading_path_has_a_thousand_characters_at_most() -> None:
    text = "".join(f"{'#' * level} {str(level) * 300}\n\n" for level in range(1, 7)) + "text\n"
    heading = _load(text, "text/markdown").blocks[-1].heading
    assert heading == ("4" * 300, "5" * 300, "6" * 300)


def test_work_beyond_the_limit_raises_and_names_document_and_setting() -> None:
    limit = WorkLimit("long.txt", 0.0, "THE_SETTING")
    with pytest.raises(LoadFailed, match=r"'long\.txt' takes more than 0 s .* raise THE_SETTING"), limit.running():
        check_work()


def test_without_a_limit_nothing_is_checked() -> None:
    check_work()
    with WorkLimit("short.txt", 60.0, "THE_SETTING").running():
        check_work()


_STEPS: dict[str, Callable[[str], object]] = {
    "sentences": segment,
    "evidence": lambda text: gather_evidence([text]),
    "chunks": lambda text: make_chunker("sentences").chunk(
        LoadedDocument(key="d", title="d", blocks=(Block(text=text),)), EstimatedTokens(64)
    ),
}


@pytest.mark.parametrize("step", _STEPS)
def test_steps_over_a_whole_document_check_its_time(step: str) -> None:
    checks = []
    limit = WorkLimit("d", 60.0, "S")
    limit.check = lambda: checks.append(step)  # type: ignore[method-assign]
    with limit.running():
        _STEPS[step]("Aa b. " * 20_000)
    assert len(checks) > 3
