"""What the commands of the documentation find: folders and files, corpora, a scripted model, and a server."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.docs.pages import ROOT
from tests.docs.running.sessions import Shell, clean_environment
from tests.integration.reasoning.good_model import good_model
from tests.twins.chat_server import Call, ChatServer, Reply

__all__ = ["Stage", "set_up"]

_HOPWEAVE = Path(sys.executable).with_name("hopweave")
_ANSWER = "Madurai"
_ASKED = "Where was Augustus De Morgan born?"
_TEXTS = {
    "people": {
        "ada.md": "# Ada Lovelace\n\nAda Lovelace wrote the first program, for the Analytical Engine. "
        "She lived in London. Augustus De Morgan taught her mathematics.",
        "morgan.md": "# Augustus De Morgan\n\nAugustus De Morgan was a mathematician, born in Madurai, India, in 1806.",
        "engine.md": "# Analytical Engine\n\nCharles Babbage designed the Analytical Engine in London in 1837.",
    },
    "papers": {
        "hopper.txt": "Grace Hopper\n\nGrace Hopper was the author of the first compiler, A-0.",
        "ore.md": "# Øystein Ore\n\nØystein Ore supervised the thesis of Grace Hopper at Yale.",
    },
    "letters": {"letter.txt": "A letter\n\nDear Charles, the first program is written. Ada Lovelace"},
    "books": {"cuckoo.md": "# The Cuckoo\n\nRobert Galbraith wrote The Cuckoo. J. K. Rowling is Robert Galbraith."},
}
"""The corpora, each a folder of the same name. Every answer of the model is in one of them."""
_FILES = {
    "notes/index.md": "# Index\n\nThe plans of the year.",
    "notes/drafts/plan.md": "# Plan\n\nA draft.",
    "reports/2019/q3.md": "# Third quarter\n\nThe third quarter of 2019 was quiet.",
    "reports/2020/q1.md": "# First quarter\n\nThe first quarter of 2020 was not.",
}
_PASSAGES = 12
_CURL = '#!/bin/sh\nexec {curl} --fail-with-body "$@"\n'
_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A folder with the home and the working folder of a user, and the variables with which commands run in it."""

    folder: Path
    environment: Mapping[str, str]
    instead: Mapping[str, str]
    address: str

    def shell(self, page: str) -> Shell:
        """Returns a new shell, which knows nothing of the commands of other pages."""
        session = self.folder / "sessions" / page.replace("/", "-")
        session.parent.mkdir(exist_ok=True)
        work = self.folder / "home" / "work"
        return Shell(session=session, folder=work, environment=self.environment, instead=self.instead)

    def delete_keys(self) -> None:
        """Deletes all keys, and waits until the server asks for none."""
        for key in json.loads(self._run("keys", "list", "--json"))["data"]:
            self._run("keys", "revoke", key["id"], "--delete")
        ends = time.monotonic() + _SECONDS
        while not httpx.get(f"http://{self.address}/v1/corpora", trust_env=False, timeout=60).is_success:
            assert time.monotonic() < ends, "the server still asks for a key"
            time.sleep(0.1)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([_HOPWEAVE, *arguments], env=self.environment, check=True, capture_output=True, text=True)
        return done.stdout


@contextmanager
def set_up(folder: Path) -> Iterator[Stage]:
    """Yields a stage whose corpora are indexed and whose server runs; ends the server."""
    address, other = (f"127.0.0.1:{_free_port()}" for _ in range(2))
    with ChatServer(respond=_respond) as chat:
        work = folder / "home" / "work"
        _write_files(folder, work)
        environment = {
            **clean_environment(),
            "HOME": str(folder / "home"),
            "PATH": f"{folder / 'bin'}:{_HOPWEAVE.parent}:{os.environ['PATH']}",
            "HF_HUB_OFFLINE": "1",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "HOPWEAVE_DATA_DIR": str(folder / "data"),
            "HOPWEAVE_LLM__BASE_URL": chat.url,
            "HOPWEAVE_LLM__API_KEY": "scripted",
            "HOPWEAVE_LLM__MODEL": "qwen3:8b",
            "HOPWEAVE_LLM__SEND_METADATA": "true",
        }
        instead = {
            "http://127.0.0.1:11434/v1": chat.url,
            "~/.local/share/hopweave": str(folder / "data"),
            "hopweave serve": f"hopweave serve --port {other.rpartition(':')[2]}",
            **dict.fromkeys(
                ("http://127.0.0.1:8000", "http://other:8000", "http://10.0.0.5:8000"), f"http://{address}"
            ),
            **dict.fromkeys(("localhost:8000", "other:8000"), address),
        }
        with _serving(environment, folder, address):
            for name in _TEXTS:
                command = [_HOPWEAVE, "ingest", work / name, "--corpus", name]
                subprocess.run(command, env=environment, check=True, capture_output=True)
            yield Stage(folder=folder, environment=environment, instead=instead, address=address)


def _write_files(folder: Path, work: Path) -> None:
    texts = {f"{corpus}/{name}": text for corpus, files in _TEXTS.items() for name, text in files.items()}
    for name, text in (texts | _FILES | {"ada.md": _TEXTS["people"]["ada.md"], "engine.md": "# Engine"}).items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, "utf-8")
    for name, text in _TEXTS["papers"].items():
        (folder / "home" / "papers").mkdir(exist_ok=True)
        (folder / "home" / "papers" / name).write_text(text, "utf-8")
    _write_pdf(work / "engine.pdf")
    (work / ".venv").symlink_to(_HOPWEAVE.parents[1])
    _copy_sets(work)
    (folder / "bin").mkdir()
    curl = folder / "bin" / "curl"
    found = subprocess.run(["which", "curl"], check=True, capture_output=True, text=True).stdout.strip()
    curl.write_text(_CURL.format(curl=found), "utf-8")
    curl.chmod(0o700)


def _write_pdf(file: Path) -> None:
    from fpdf import FPDF

    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    pdf.text(20, 20, "Charles Babbage designed the Analytical Engine.")
    pdf.output(str(file))


def _copy_sets(work: Path) -> None:
    """Writes a few passages and questions of the example corpus under the names of datasets."""
    example = ROOT / "examples" / "musique-small"
    rows = (example / "corpus.jsonl").read_text("utf-8").splitlines()[:_PASSAGES]
    ids = {json.loads(row)["id"] for row in rows}
    questions = (example / "questions.jsonl").read_text("utf-8").splitlines()
    answered = [row for row in questions if set(json.loads(row)["supporting"]) <= ids]
    for name in ("examples/musique-small", "musique", "hotpotqa", "mine"):
        (work / name).mkdir(parents=True)
        (work / name / "corpus.jsonl").write_text("\n".join(rows), "utf-8")
        (work / name / "questions.jsonl").write_text("\n".join(answered), "utf-8")


def _respond(call: Call) -> Reply:
    """Does the work of every role; those outside of reasoners are known by name."""
    others = {
        "doctor": {"answer": "4", "city": "Paris"},
        "extract": {"entities": ["Ada Lovelace", "London"], "triples": [["Ada Lovelace", "lived in", "London"]]},
        "judge": {"score": 1},
        "judge_gain": {"score": 5},
        "judge_reference": {"answer": "Charles Babbage"},
        "restate_question": {"question": "When was Augustus De Morgan born?"},
        "same_answer": {"same": "no"},
    }
    return Reply.json(others[call.role]) if call.role in others else good_model(_ANSWER, _ASKED)(call)


@contextmanager
def _serving(environment: Mapping[str, str], folder: Path, address: str) -> Iterator[None]:
    command = [_HOPWEAVE, "serve", "--port", address.rpartition(":")[2]]
    with (folder / "serve.log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        _wait_for(f"http://{address}/readyz", server, folder / "serve.log")
        yield
    finally:
        server.terminate()
        server.wait(_SECONDS)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends and server.poll() is None:
        try:
            if httpx.get(url, trust_env=False, timeout=60).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"the server is not ready: {log.read_text('utf-8')[-2000:]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
