"""The places of chunks: page, span and heading path, against the loaded text, on random chunks of each kind."""

import random
from collections.abc import Sequence

import pytest
from pypdfium2 import PdfDocument

from core.documents import HEADING_SEPARATOR
from core.ports.indexing import LoadedDocument
from indexer.chunkers import sentences
from indexer.selection.loaders import media_type_of, module_of
from testing.contracts.chunker import WordTokens
from testing.contracts.loader import source_of
from tests.documents import Part, make_docx, make_epub, make_pdf, make_pptx, make_xlsx

CHUNKS = 200
NAMES = ["harbour", "bridge", "railway", "winter", "council", "engineer", "storm", "market"]


class Writer:
    """Random chapters. `paths` has the heading path of each numbered sentence, `pages` its page, if that is known."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.paths: dict[int, tuple[str, ...]] = {}
        self.pages: dict[int, int] = {}
        self.count = 0

    def paragraph(self, path: tuple[str, ...], page: int = 0) -> str:
        sentences = []
        for _ in range(self.random.randint(2, 5)):
            words = " ".join(self.random.choices(NAMES, k=self.random.randint(4, 12)))
            sentences.append(f"Sentence N{self.count:05d} has {words}.")
            self.paths[self.count] = path
            self.pages[self.count] = page
            self.count += 1
        return " ".join(sentences)

    def chapters(self, count: int) -> list[Part]:
        parts: list[Part] = []
        for n in range(count):
            path: tuple[str, ...] = (f"Chapter {n}",)
            parts += [("h1", path[0]), ("p", self.paragraph(path))]
            for m in range(self.random.randint(1, 3)):
                path = (path[0], f"Section {n}.{m}")
                parts.append(("h2", path[1]))
                parts += [("p", self.paragraph(path)) for _ in range(self.random.randint(1, 3))]
        return parts


def make_of(kind: str, writer: Writer) -> bytes:
    if kind == "docx":
        return make_docx(writer.chapters(60))
    if kind == "pdf":
        parts: list[Part] = []
        for part in writer.chapters(60):
            parts += [("page", ""), part] if part[0] == "h1" and parts and writer.random.random() < 0.5 else [part]
        return make_pdf(parts, outline=True, title="Random")
    if kind == "epub":
        files = [writer.chapters(1) for _ in range(60)]
        bodies = ["".join(f"<{tag}>{text}</{tag}>" for tag, text in parts) for parts in files]
        return make_epub({f"c{n}.xhtml": body for n, body in enumerate(bodies)})
    titles = [f"Part {n}" for n in range(60)]
    texts = [[writer.paragraph((title,), n) for _ in range(4)] for n, title in enumerate(titles, 1)]
    if kind == "pptx":
        return make_pptx([(title, lines[:3], lines[3]) for title, lines in zip(titles, texts, strict=True)])
    numbered = {title: list(enumerate(lines)) for title, lines in zip(titles, texts, strict=True)}
    return make_xlsx({title: [["Number", "Text"], *map(list, lines)] for title, lines in numbered.items()})


@pytest.mark.parametrize("kind", ["docx", "epub", "pdf", "pptx", "xlsx"])
def test_random_chunks_are_where_they_say(kind: str) -> None:
    writer = Writer(1)
    content = make_of(kind, writer)
    module = module_of(media_type_of(f"x.{kind}"))
    document: LoadedDocument = module.build(module.Config(), None).load(source_of(content, title="T"))
    chunks = sentences.build(sentences.Config(), None).chunk(document, WordTokens(48))
    assert len(chunks) >= CHUNKS
    raw_pages = [page.get_textpage().get_text_range() for page in PdfDocument(content)] if kind == "pdf" else []
    checked: set[int] = set()
    for chunk in writer.random.sample(chunks, CHUNKS):
        assert chunk.start is not None
        page = document.pages[(chunk.page or 1) - 1]
        assert page[chunk.start : chunk.start + len(chunk.text)] == chunk.text
        for number in _numbers(chunk.text):
            checked.add(number)
            assert chunk.heading == HEADING_SEPARATOR.join(writer.paths[number])
            if writer.pages[number]:
                assert chunk.page == writer.pages[number]
            elif kind == "pdf":
                assert f"N{number:05d}" in raw_pages[(chunk.page or 0) - 1]
    assert len(checked) >= CHUNKS


def _numbers(text: str) -> Sequence[int]:
    words = text.split()
    return [int(word[1:]) for word in words if len(word) == 6 and word[0] == "N" and word[1:].isdigit()]
