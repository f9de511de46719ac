"""Empty files, very long lines and random bytes, for each kind of text."""

import random

import pytest

from core import strategies
from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from core.strategies import StrategySpec
from testing.contracts.loader import source_of

KINDS = ["txt", "md", "rst", "source", "csv", "html", "eml", "ipynb"]
_LINE = ("Die Straße führt über den Fluß zum Haus, " * 1_200_000).encode()  # 50 MB


def load(kind: str, content: bytes) -> LoadedDocument:
    loader = strategies.build("indexer.loaders", StrategySpec(name=kind), "loader", None)
    document: LoadedDocument = loader.load(source_of(content, key="a.py"))
    return document


@pytest.mark.parametrize("kind", ["txt", "md", "rst", "source"])
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\n \r\n\t\n"])
def test_an_empty_text_is_a_document_without_passages(kind: str, content: bytes) -> None:
    assert not any(block.text.strip() for block in load(kind, content).blocks)


@pytest.mark.parametrize("kind", ["csv", "html", "eml", "ipynb"])
def test_an_empty_file_of_another_kind_is_refused(kind: str) -> None:
    with pytest.raises(LoadFailed, match=r"'a\.py'"):
        load(kind, b"")


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "epub", "pdf"])
def test_a_binary_file_without_bytes_is_called_empty_and_not_damaged(kind: str) -> None:
    with pytest.raises(LoadFailed, match=r"'a\.py' is empty: it has no bytes"):
        load(kind, b"")


@pytest.mark.parametrize("kind", ["txt", "md", "rst"])
def test_a_line_of_50_mb(kind: str) -> None:
    document = load(kind, _LINE)
    [block] = document.blocks
    assert (block.text, document.title) == (_LINE.decode(), "a")


@pytest.mark.parametrize("kind", ["csv", "html", "source"])
def test_a_line_of_5_mb(kind: str) -> None:
    text = _LINE[:5_000_000].decode(errors="ignore")
    assert "".join(load(kind, text.encode()).pages[0].split()).count("Straße") == text.count("Straße")


@pytest.mark.parametrize("kind", KINDS)
def test_random_bytes_are_refused_or_read_whole(kind: str) -> None:
    random_ = random.Random(kind)
    for _ in range(30):
        content = random_.randbytes(random_.randint(20, 400))
        try:
            document = load(kind, content)
        except LoadFailed as error:
            assert "'a.py'" in str(error)  # noqa: PT017 - either outcome is right
        else:
            assert "\ufffd" not in document.pages[0]
