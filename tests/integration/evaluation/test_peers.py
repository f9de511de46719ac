"""What becomes of a peer of the benchmark of materials that answers, fails or hangs, and the model that peers use.

Scripts stand in for the peers.
"""

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.materials.peers import environments
from tests.benchmarks.materials.peers.embedder import BuiltInModel, OtherModel
from tests.benchmarks.materials.peers.environments import PEERS
from tests.benchmarks.materials.peers.exchange import Material, UnusableFile, Vectors, read_material, write_answers
from tests.benchmarks.materials.peers.running import run_peers
from tests.peers import make_answers, write_material


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_material(tmp_path / "contracts")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of environments in which the interpreter of each peer is a script that a test writes."""
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "peers")
    return tmp_path / "peers"


def install_script(installed: Path, name: str, script: str) -> None:
    python = installed / name / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    (installed / name / "installed").write_text(environments._digest(PEERS[name]), "utf-8")


def test_a_peer_that_fails_gets_a_line_and_the_others_answer(
    folder: Path, tmp_path: Path, installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "prepared.json"
    write_answers(answers, make_answers(peer="txtai"))
    install_script(installed, "haystack", "echo working; echo 'ValueError: no such store' >&2; exit 3")
    install_script(installed, "txtai", f'shift 5; cp {answers} "$1"')  # -m MODULE answer NAME FOLDER OUT …
    runs = run_peers(folder, tmp_path / "out", ["haystack", "llamaindex", "txtai"])
    assert runs.answers == {"txtai": make_answers(peer="txtai")}
    log = tmp_path / "out" / "haystack.log"
    assert runs.failures == {
        "haystack": f"ended with 3: ValueError: no such store; see {log}",
        "llamaindex": "not installed as llamaindex.txt says: "
        "run `python -m tests.benchmarks.materials.peers install llamaindex`",
    }
    assert log.read_text("utf-8") == "working\nValueError: no such store\n"
    assert capsys.readouterr().err.splitlines() == [f"{name}: {line}" for name, line in runs.failures.items()]


def test_answers_of_an_earlier_run_do_not_count(folder: Path, tmp_path: Path, installed: Path) -> None:
    install_script(installed, "txtai", "true")
    (tmp_path / "out").mkdir()
    write_answers(tmp_path / "out" / "txtai.json", make_answers(peer="txtai"))
    failures = run_peers(folder, tmp_path / "out", ["txtai"]).failures
    assert "wrote no usable answers" in failures["txtai"]
    assert "No such file" in failures["txtai"]


def test_a_peer_is_ended_after_its_time(folder: Path, tmp_path: Path, installed: Path) -> None:
    install_script(installed, "txtai", "exec sleep 600")
    failures = run_peers(folder, tmp_path / "out", ["txtai"], timeout_seconds=0.2).failures
    assert failures["txtai"].startswith("took longer than 0 s")


def test_a_peer_sends_no_telemetry_and_has_all_cores(folder: Path, tmp_path: Path, installed: Path) -> None:
    install_script(installed, "haystack", "env; exit 1")
    run_peers(folder, tmp_path / "out", ["haystack"])
    seen = (tmp_path / "out" / "haystack.log").read_text("utf-8").splitlines()
    cores = len(os.sched_getaffinity(0))
    assert {"HAYSTACK_TELEMETRY_ENABLED=False", "HF_HUB_OFFLINE=1", f"OPENBLAS_NUM_THREADS={cores}"} <= set(seen)


@pytest.mark.usefixtures("installed")
def test_material_that_cannot_be_read_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile):
        run_peers(tmp_path, tmp_path / "out", ["txtai"])


def test_vectors_of_another_model_are_noticed(folder: Path) -> None:
    model = BuiltInModel()
    with pytest.raises(OtherModel, match="question 'q1' has a cosine of"):
        model.check_same(read_other_questions(folder, np.eye(2, model.dimension, dtype=np.float32)))
    questions = [question.text for question in read_material(folder).questions]
    model.check_same(read_other_questions(folder, model.embed_passages(questions)))


def read_other_questions(folder: Path, vectors: Vectors) -> Material:
    np.save(folder / "questions.npy", vectors)
    return read_material(folder)


def test_rows_of_passages_are_in_the_order_of_the_texts() -> None:
    model = BuiltInModel()
    texts = ["Rent.", "The rent is due on Monday, and the notice is three months.", "Notice is due."]
    vectors = model.embed_passages(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert model.embed_question(text) @ vector > 0.999
    assert model.embed_passages([]).shape == (0, model.dimension)
