"""Graphs on disk: damaged, made twice at once, or not to be kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import InvalidSettings
from models.embedding import weights as weights_module
from models.embedding.bert import BertEncoder
from models.embedding.bert_layout import read_layout
from models.embedding.weights import BUILT_IN, resolve

_PROGRAM = """
import asyncio
from models import SentenceTransformersEmbedder
embedder = SentenceTransformersEmbedder(precision="bfloat16")
vector = asyncio.run(embedder.embed_query("Who wrote the first program?"))
print(len(vector), vector[:3].round(2).tolist())
"""


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "hopweave" / "embedding"


def _first_numbers() -> list[float]:
    weights = resolve(BUILT_IN)
    assert weights.folder is not None
    layout = read_layout(weights.folder)
    assert layout is not None
    encoder = BertEncoder(layout, weights, bfloat16=False, threads=1)
    numbers: list[float] = encoder.encode(["Who wrote the first program?"], queries=True)[0, :3].tolist()
    return numbers


def test_a_graph_is_kept_and_used_without_the_weights(caches: Path, monkeypatch: pytest.MonkeyPatch):
    built = _first_numbers()
    [folder] = caches.iterdir()
    assert {file.name for file in folder.iterdir()} == {"graph.bin", "graph.xml", "SHA256SUMS"}
    _check_sums(folder)
    monkeypatch.setattr("models.embedding.bert.read_weights", None)  # not called
    assert _first_numbers() == built


def _check_sums(folder: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)


def _cut(folder: Path) -> None:
    with (folder / "graph.bin").open("r+b") as file:
        file.truncate(1000)


def _alter(folder: Path) -> None:
    with (folder / "graph.bin").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x01\x02")


def _lose(folder: Path) -> None:
    (folder / "graph.xml").unlink()


def _blank(folder: Path) -> None:
    (folder / "SHA256SUMS").write_bytes(b"\xff")


def test_a_damaged_graph_is_made_again(caches: Path):
    built = _first_numbers()
    [folder] = caches.iterdir()
    for damage in (_cut, _alter, _lose, _blank):
        damage(folder)
        assert _first_numbers() == built, damage
        assert list(caches.iterdir()) == [folder]
        _check_sums(folder)


def test_what_a_killed_process_left_is_deleted(caches: Path):
    old, new = caches / ".any-old", caches / ".any-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "graph.bin").write_bytes(b"half")
    os.utime(old, (0, 0))
    _first_numbers()
    assert (old.exists(), new.exists()) == (False, True)


def test_processes_that_make_it_at_once_do_not_disturb_each_other(caches: Path):
    programs = [
        subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [program.communicate(timeout=300) for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0], ended
    assert len({out for out, _ in ended}) == 1
    assert len(list(caches.iterdir())) == 1


@pytest.mark.parametrize("kind", ["file", "no home"])
def test_a_graph_that_cannot_be_kept_is_used_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: str
):
    if kind == "file":
        (tmp_path / "caches").write_text("not a folder")
    else:
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr(Path, "expanduser", _no_home)
    assert len(_first_numbers()) == 3
    assert "cannot be kept" in caplog.text


def _no_home(_: Path) -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_weights_that_are_not_the_published_ones_are_not_built(caches: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(weights_module, "_SHA256", "0" * 64)
    with pytest.raises(InvalidSettings, match="where 0000"):
        _first_numbers()
    assert not caches.exists() or list(caches.iterdir()) == []
