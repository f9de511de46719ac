"""The example commits of `docs/extending.md`: each is applied to a copy of the checkout, and passes its tests."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

_EXAMPLE = re.compile(
    r"^## (?P<title>A \w+)\n.*?```diff\n(?P<diff>.*?)```\n\n<!-- [^\n]* -->\n"
    r"```console\n\$ \.venv/bin/(?P<run>[^\n]+)\n",
    re.DOTALL | re.MULTILINE,
)
_NOT_COPIED = (".*", "__pycache__", "dist", "images")


@dataclass(frozen=True, kw_only=True)
class Example:
    title: str
    diff: str
    command: list[str]

    @property
    def new_files(self) -> list[str]:
        return re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+)", self.diff, re.MULTILINE)

    @property
    def pages(self) -> list[str]:
        return re.findall(r"^--- a/(\S+)", self.diff, re.MULTILINE)


def examples() -> list[Example]:
    text = (DOCS / "extending.md").read_text("utf-8")
    found = [(one["title"], one["diff"], shlex.split(one["run"])) for one in _EXAMPLE.finditer(text)]
    return [Example(title=title, diff=diff, command=command) for title, diff, command in found]


each = pytest.mark.parametrize("example", examples(), ids=lambda example: example.title.split()[-1])


def test_the_kinds_that_are_shown() -> None:
    assert [example.title for example in examples()] == ["A loader", "A searcher", "A reasoner"]


@each
def test_an_example_is_one_file_and_one_line_of_docs(example: Example) -> None:
    assert len(example.new_files) == 1
    assert len(example.pages) == 1
    assert example.pages[0].startswith("docs/")
    before, _, _ = example.diff.partition("--- /dev/null")
    added = re.findall(r"^\+(?!\+\+)", before, re.MULTILINE)
    removed = re.findall(r"^-(?!--)", example.diff, re.MULTILINE)
    assert (len(added), removed) == (1, [])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what is tracked, roughly: no environments, caches or data."""
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*_NOT_COPIED))
    return copy


@pytest.mark.slow
@each
def test_an_example_passes_its_tests_without_any_other_change(example: Example, checkout: Path) -> None:
    _run(["git", "apply", "--unidiff-zero", "-"], checkout, example.diff)
    _run([*_ruff(), "check", "--no-cache", *example.new_files], checkout)
    _run([*_ruff(), "format", "--no-cache", "--check", *example.new_files], checkout)
    tool, *arguments = example.command
    assert tool == "pytest"
    told = _run([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *arguments], checkout)
    name = Path(example.new_files[0]).stem
    assert re.search(rf"::\S*\b{name}\b\S* PASSED", told), told[-2000:]


def _ruff() -> list[str]:
    return [sys.executable, "-m", "ruff"]


def _run(command: list[str], folder: Path, text: str = "") -> str:
    """Runs it as in a checkout of its own; what it imports is the copy."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent), "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout
