"""`ingest --embeddings`: vectors of a `.npy` file beside JSON lines, in place of the model's."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import app.container.adapters
from core.ports.embedding import Vectors
from tests.integration.cli.conftest import Hopweave, working
from tests.integration.cli.test_folder_server import serving
from tests.twins.embedder import TwinEmbedder

LINES = 5
LONG = " ".join(f"Sentence {n} of a text that is far too long for the model." for n in range(400))


class CountingTwin(TwinEmbedder):
    """Counts the passages that it embeds."""

    embedded = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        type(self).embedded += len(texts)
        return await super().embed_passages(texts)


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch, hopweave: Hopweave) -> type[CountingTwin]:  # noqa: ARG001 - it sets another one
    CountingTwin.embedded = 0
    monkeypatch.setattr(app.container.adapters, "make_embedder", lambda _: CountingTwin())
    return CountingTwin


def _write(folder: Path, vectors: Vectors | None = None, *, name: str = "v.npy") -> tuple[Path, Path]:
    lines, rows = folder / "p.jsonl", folder / name
    texts = [f"Passage {n} about {'abcde'[n]}." for n in range(LINES - 1)] + [LONG]
    documents = [json.dumps({"id": f"p{n}", "title": f"Title {n}", "text": text}) for n, text in enumerate(texts)]
    lines.write_text("\n".join([*documents[:2], "", *documents[2:]]) + "\n", encoding="utf-8")
    np.save(rows, _axes() if vectors is None else vectors)
    return lines, rows


def _axes(dtype: str = "float32") -> Vectors:
    """Row n is three units long, along axis n."""
    return (3.0 * np.eye(LINES, 64)).astype(dtype)


def _exported(hopweave: Hopweave, corpus: str) -> dict[str, Vectors]:
    """Returns the stored vectors by the key of the document."""
    rows = [json.loads(line) for line in hopweave("export", corpus, "--format", "jsonl").out.splitlines()]
    keys = {row["id"]: row["key"] for row in rows if row["kind"] == "document"}
    found = [row for row in rows if row["kind"] == "vector" and row["of"] == "chunk"]
    assert len(found) == len(keys), "each line is one passage, also one that is too long for the model"
    return {keys[row["document_id"]]: np.frombuffer(base64.b64decode(row["data"]), "<f4") for row in found}


def test_rows_are_the_vectors_and_the_model_is_not_called(
    hopweave: Hopweave, twin: type[CountingTwin], tmp_path: Path
) -> None:
    table = tmp_path / "passages.tsv"
    table.write_text("id\ttext\ttitle\n" + "".join(f"p{n}\tThe text of {n}.\tTitle\n" for n in range(LINES)))
    with working():
        for dtype in ("float32", "float16"):
            lines, rows = _write(tmp_path, _axes(dtype))
            for documents in (lines, table):
                corpus = f"{documents.stem}-{dtype}"
                ran = hopweave("ingest", documents, "--embeddings", rows, "-c", corpus)
                assert (ran.code, f"{LINES} indexed" in ran.out) == (0, True), ran
                assert f"{LINES} unchanged" in hopweave("ingest", documents, "--embeddings", rows, "-c", corpus).out
                vectors = _exported(hopweave, corpus)
                for n in range(LINES):
                    assert np.array_equal(vectors[f"p{n}"], np.eye(LINES, 64, dtype=np.float32)[n])
    assert twin.embedded == 0
    assert "missing" not in hopweave("doctor").out
    assert hopweave("search", "abc", "-c", corpus, "--searcher", "dense").code == 0


def test_other_embeddings_replace_those_before(hopweave: Hopweave, twin: type[CountingTwin], tmp_path: Path) -> None:
    lines, rows = _write(tmp_path)
    _, turned = _write(tmp_path, np.roll(_axes(), 1, axis=0), name="w.npy")
    with working():
        assert hopweave("ingest", lines, "-c", "ready", "--chunker", "passage").code == 0
        assert twin.embedded > 0, "without the option the model embeds"
        for file in (rows, turned):
            assert f"{LINES} indexed" in hopweave("ingest", lines, "--embeddings", file, "-c", "ready").out
    assert np.argmax(_exported(hopweave, "ready")["p0"]) == LINES - 1


def test_a_reindex_keeps_them_or_embeds_with_the_other_model(
    hopweave: Hopweave, twin: type[CountingTwin], tmp_path: Path
) -> None:
    lines, rows = _write(tmp_path)
    with working():
        assert hopweave("ingest", lines, "--embeddings", rows, "-c", "ready").code == 0
        assert hopweave("corpora", "reindex", "ready", "--extractor", "none").code == 0
        assert twin.embedded == 0
        assert np.argmax(_exported(hopweave, "ready")["p3"]) == 3
        assert hopweave("corpora", "reindex", "ready", "--no-embedding").code == 0
        assert hopweave("search", "abc", "-c", "ready").code == 0
        refused = hopweave("ingest", lines, "--embeddings", rows, "-c", "ready")
        assert (refused.code, "no vectors" in refused.err) == (2, True), refused


def _not_finite() -> Vectors:
    rows = _axes()
    rows[3, 7] = np.nan
    return rows


def _zero() -> Vectors:
    rows = _axes()
    rows[1] = 0
    return rows


def test_what_cannot_be_used_is_one_message_and_nothing_is_written(hopweave: Hopweave, tmp_path: Path) -> None:
    unusable = {
        "4 rows, and": np.eye(LINES - 1, 64, dtype=np.float32),
        "32 dimensions": np.eye(LINES, 32, dtype=np.float32),
        "float64": np.eye(LINES, 64),
        "shape (5,)": np.ones(LINES, np.float32),
        "row 3 ": _not_finite(),
        "row 1 ": _zero(),
    }
    with working():
        for message, vectors in unusable.items():
            lines, rows = _write(tmp_path, vectors)
            refused = hopweave("ingest", lines, "--embeddings", rows, "-c", "ready")
            assert (refused.code, refused.err.count("\n")) == (2, 1), refused
            assert message in refused.err
    (tmp_path / "cut.npy").write_bytes(rows.read_bytes()[:-10])
    (tmp_path / "text.npy").write_bytes(b"0.1 0.2\n")
    for name, told in (("cut", "is a .npy file that is cut off"), ("text", "write it with numpy.save")):
        refused = hopweave("ingest", lines, "--embeddings", tmp_path / f"{name}.npy", "-c", "ready")
        assert (refused.code, told in refused.err, "pickle" in refused.err) == (2, True, False), refused
    assert not hopweave("corpora", "list", "--json").json["data"]


def test_a_server_takes_them_and_keeps_no_new_corpus_of_another_dimension(
    hopweave: Hopweave, twin: type[CountingTwin], tmp_path: Path
) -> None:
    lines, rows = _write(tmp_path, np.eye(LINES, 32, dtype=np.float32))
    _, fitting = _write(tmp_path, name="w.npy")
    with working(), serving() as url:
        refused = hopweave("ingest", lines, "--embeddings", rows, "-c", "ready", "--server", url)
        assert (refused.code, refused.err.count("\n")) == (2, 1), refused
        assert "32 dimensions" in refused.err
        assert not hopweave("corpora", "list", "--json").json["data"]
        assert hopweave("ingest", lines, "--embeddings", fitting, "-c", "ready", "--server", url).code == 0
        assert hopweave("ingest", lines, "--embeddings", rows, "-c", "ready", "--server", url).code == 2
        assert hopweave("corpora", "show", "ready", "--json").json["counts"]["documents"] == LINES, "it is kept"
        assert np.argmax(_exported(hopweave, "ready")["p3"]) == 3
    assert twin.embedded == 0


def test_options_that_do_not_go_together(hopweave: Hopweave, tmp_path: Path) -> None:
    lines, rows = _write(tmp_path)
    (tmp_path / "no.npy").write_bytes(b"nothing")
    for options in (
        (lines, "--embeddings", rows, "--no-embedding"),
        (lines, "--embeddings", rows, "--dry-run"),
        (lines, "--embeddings", rows, "--watch"),
        (lines, lines, "--embeddings", rows),
        (tmp_path, "--embeddings", rows),
        (lines, "--embeddings", tmp_path / "no.npy"),
    ):
        refused = hopweave("ingest", *options, "-c", "ready")
        assert (refused.code, refused.err.count("\n")) == (2, 1), refused
    assert hopweave("ingest", lines, "--embeddings", tmp_path / "gone.npy", "-c", "ready").code == 1
