"""A sweep finds a text that something else has left, and says what documents share."""

import json
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.container import Container
from app.services.sweep import sweep, take_text
from core.corpora import Corpus
from core.errors import InvalidInput
from core.ids import document_id
from core.record_policy.certificates import Secret, verify_lines
from core.settings import Settings
from stores.sqlite import pack_text
from tests.desk import Desk

_MINUTES = "The minutes of Ada Byron say that engine number seven was never built in Turin or in London."
_TEXT = " ".join([_MINUTES, *(f"Paragraph {number} of it tells of wheel {number}." for number in range(40))])


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.close()


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    container = Container(Settings(data_dir=tmp_path))
    yield container
    await container.close()


async def _delete_and_sweep(desk: Desk, container: Container, corpus: Corpus, *, plant: Any = lambda _: None) -> Any:
    document = await container.record.documents.get(corpus.id, document_id("a"))
    chunks = await container.record.contents.get_chunks_of(corpus.id, document.id)
    sought = await take_text(container, corpus, [document])
    await desk.delete(corpus, "a")
    plant([chunk.text for chunk in chunks])
    await sweep(container, corpus, sought)
    lines = [one.line for one in await container.record.certificates.list("people")]
    return verify_lines(lines)[0].certificates[-1]


async def test_nothing_is_found_of_a_deleted_document(desk: Desk, container: Container) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, {"id": "a", "text": _TEXT}, {"id": "b", "text": "Grace Hopper wrote a compiler."})
    certificate = await _delete_and_sweep(desk, container, corpus)
    assert certificate["kind"] == "sweep"
    assert set(certificate["found"].values()) == {0}
    assert certificate["checked"]["runs"] > 100
    assert certificate["checked"]["files"] > 3
    assert "minutes" not in json.dumps(certificate)


@pytest.mark.parametrize("form", ["plain", "compressed"])
async def test_a_copy_in_the_data_folder_is_found(desk: Desk, container: Container, tmp_path: Path, form: str) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, {"id": "a", "text": _TEXT})

    def plant(texts: list[str]) -> None:
        packed = next(packed for text in texts if isinstance(packed := pack_text(text), bytes))
        left = packed if form == "compressed" else f"2026 log: {_MINUTES}".encode()
        (tmp_path / "left.bin").write_bytes(b"\0" * 1_048_570 + left + b"\xff" * 9)  # over the end of a block

    certificate = await _delete_and_sweep(desk, container, corpus, plant=plant)
    assert certificate["places"] == ["left.bin"]
    assert certificate["found"]["files"] == 1


@pytest.mark.parametrize("form", ["utf-16-le", "utf-16-be", "json", "shared", "original"])
async def test_a_copy_in_another_form_is_found(desk: Desk, container: Container, tmp_path: Path, form: str) -> None:
    text = "\n".join(f"Die Größe von Öl\nund Äpfeln für\nÜbung {n} wächst täglich," for n in range(40))
    corpus = await desk.corpus()
    other = {"id": "b", "text": "Die Größe von Öl und Äpfeln für Übung 1 wächst täglich."}
    await desk.ingest(corpus, {"id": "a", "text": text}, *([other] if form == "shared" else []))
    document = await container.record.documents.get(corpus.id, document_id("a"))
    original = await container.files.get(corpus.id, document.content_hash)

    def plant(texts: list[str]) -> None:
        packed = next(packed for text in texts if isinstance(packed := pack_text(text), bytes))
        forms = {"json": json.dumps({"text": text}).encode(), "shared": packed, "original": zlib.compress(original, 6)}
        left = forms[form] if form in forms else text.encode(form)
        (tmp_path / "left.bin").write_bytes(b"\xff" + left)

    certificate = await _delete_and_sweep(desk, container, corpus, plant=plant)
    assert certificate["places"] == ["left.bin"]
    assert (certificate["checked"]["shared_runs"] > 0) == (form == "shared")


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
async def test_an_original_in_another_encoding_is_found(desk: Desk, container: Container, encoding: str) -> None:
    text = "Für Übung wächst täglich die Größe der Äpfel, Öl würde kühl gären. " * 3
    corpus = await desk.corpus()
    await desk.ingest(corpus, {"id": "a", "text": text})
    await container.files.put(corpus.id, [text.encode(encoding)])
    certificate = await _delete_and_sweep(desk, container, corpus)
    assert certificate["found"]["originals"] > 0


async def test_the_name_of_a_found_original_is_not_told(desk: Desk, container: Container) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, {"id": "a", "text": _TEXT})
    [name] = await container.files.put(corpus.id, [f"{_TEXT}\n{'x' * 40_000}".encode()])  # large: a file of its own
    certificate = await _delete_and_sweep(desk, container, corpus)
    [place] = certificate["places"]
    hashes = Secret(await container.certificate_secret.make()).hash_key(certificate["chain"])
    assert place.endswith(f"{corpus.id}/{hashes.hash_content(name)}")
    assert name not in json.dumps(certificate)


async def test_what_another_document_says_is_counted_and_not_looked_for(desk: Desk, container: Container) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, {"id": "a", "text": _TEXT}, {"id": "b", "text": _MINUTES})
    certificate = await _delete_and_sweep(desk, container, corpus)
    assert certificate["checked"]["shared_runs"] >= 8
    assert set(certificate["found"].values()) == {0}


async def test_a_document_without_words_is_refused(desk: Desk, container: Container) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, {"id": "a", "text": "Ada"})
    document = await container.record.documents.get(corpus.id, document_id("a"))
    with pytest.raises(InvalidInput, match="fewer than 3 words"):
        await take_text(container, corpus, [document])
