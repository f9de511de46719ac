"""A tour through the real command line, in a data folder of its own: ingest, search, ask.

`make demo`, or `python -P examples/demo.py`. It exits with 1 when a step fails.
"""

# ruff: noqa: INP001, T201 - a script of its own, and its output is what it is for

import os
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
HOPWEAVE = Path(sys.executable).with_name("hopweave")
DATA = EXAMPLES.parent / ".demo"
DATA_FROM_EXAMPLES = os.path.relpath(DATA, EXAMPLES)
ACTIVATE = HOPWEAVE.with_name("activate")
CORPUS = "musique"
QUOTING = "extractive:sentences=2"
SIEGE = "What body of water is near the location where the Siege of Cassel took place?"
QUESTIONS = (
    SIEGE,
    "Who was the first president of Damerjog's country?",
    "When was the astronomical clock built in the city where Karel Purkyně died?",
)


def main() -> int:
    """Run the steps one after the other; the first that fails ends the tour."""
    if not HOPWEAVE.exists():
        say(f"There is no {HOPWEAVE}. Run `make setup` first.")
        return 1
    shutil.rmtree(DATA, ignore_errors=True)
    began = time.monotonic()
    say(
        "Hopweave's demo. 99 passages of Wikipedia become a corpus: passages with vectors and words to search, and a "
        "graph of the names in them. Each question below needs two passages: what is asked for does not stand beside "
        "what is named. No language model is involved, and nothing leaves this machine."
    )
    return tour(began)


def tour(began: float) -> int:
    print(f"\n$ source {shown(ACTIVATE)}; cd {shown(EXAMPLES)}; export HOPWEAVE_DATA_DIR={DATA_FROM_EXAMPLES}")
    step("1. Ingest. The command starts a Celery worker, which loads, embeds and links the passages, and commits them.")
    if not run("ingest", "musique-small", "--corpus", CORPUS, "--extractor", "pattern+given"):
        return 1
    step("2. Search through the graph. The way of a hit is what leads from a name in the question to the passage.")
    if not run("search", SIEGE, "--corpus", CORPUS, "--searcher", "graph", "-k", "2", "--explain"):
        return 1
    step(
        "3. Ask. Without a language model, an answer is made of sentences quoted from the passages, each with its "
        "source: first about what the question names, then about what that leads to."
    )
    if not all(run("ask", question, "--corpus", CORPUS, "--reasoner", QUOTING) for question in QUESTIONS):
        return 1
    print()
    say(f"Done in {time.monotonic() - began:.0f} s. What to try next, after the line above that begins with `source`:")
    say_next()
    return 0


def step(text: str) -> None:
    print()
    say(text)


def say(text: str) -> None:
    print(textwrap.fill(text, width=100), flush=True)


def say_next() -> None:
    next_steps = {
        "your own question": ("ask", "Where are Gila monsters found?", "--corpus", CORPUS),
        "your own files (text, HTML, PDF, Office and more)": ("ingest", "PATH", "--corpus", "mine"),
        "all searchers side by side on the twelve questions": ("eval", "musique-small"),
        "the same in a browser and over HTTP, on http://127.0.0.1:8000": ("serve",),
    }
    for what, arguments in next_steps.items():
        print(f"  {command(arguments)}\n      {what}")


def run(*arguments: str) -> bool:
    """Echo the command, run it as a user would, and say whether it succeeded."""
    print(f"\n$ {command(arguments)}", flush=True)
    environment = {**os.environ, "HOPWEAVE_DATA_DIR": DATA_FROM_EXAMPLES, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([HOPWEAVE, *arguments], cwd=EXAMPLES, env=environment, check=False)  # noqa: S603 - ours
    if done.returncode:
        print(f"\nThis step failed (exit code {done.returncode}); the worker's log is {shown(DATA / 'worker.log')}.")
    return done.returncode == 0


def command(arguments: tuple[str, ...]) -> str:
    """The command as one types it."""
    return " ".join(("hopweave", *map(quoted, arguments)))


def quoted(argument: str) -> str:
    """An apostrophe reads better in double quotes, where nothing in it means anything to a shell."""
    return f'"{argument}"' if "'" in argument and not set('"$`\\!') & set(argument) else shlex.quote(argument)


def shown(path: Path) -> str:
    return os.path.relpath(path)


if __name__ == "__main__":
    sys.exit(main())
