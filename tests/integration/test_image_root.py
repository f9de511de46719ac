"""The Dockerfile's steps carried out in a clean Debian root, and what they installed, used there without a network.

Opt-in (`make test-image`): it needs root, debootstrap and the package registries, 15 GB of disk and some minutes.
`HOPWEAVE_TEST_TORCH_INDEX` is passed on as the build argument TORCH_INDEX.
"""

import json
import os
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images.clean_root import CleanRoot, build, make_base
from tests.images.dockerfile import ROOT, instructions

pytestmark = pytest.mark.image

TORCH_INDEX = os.environ.get("HOPWEAVE_TEST_TORCH_INDEX", "")
QUESTION = "Who founded the observatory?"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanRoot]:
    folder = tmp_path_factory.mktemp("image")
    make_base(folder / "base")
    yield build(folder / "base", folder, {"TORCH_INDEX": TORCH_INDEX})
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def data(image: CleanRoot) -> Iterator[Path]:
    """The data folder, empty, in its owner's hands."""
    folder = image.folder / "var/lib/hopweave"
    yield folder
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_it_is_not_root_and_owns_nothing_but_its_data(image: CleanRoot):
    places = ["/var/lib/hopweave", "/tmp", "/opt/hopweave", "/etc", "/"]  # noqa: S108 - the image's own
    script = "id -u; " + "; ".join(f"test -w {place} && echo {place}" for place in places)
    done = image.run(["sh", "-c", script], network=False)
    assert done.stdout.split() == ["10001", *places[:2]]


def test_it_knows_its_version(image: CleanRoot):
    done = image.run(["hopweave", "version"], network=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def test_it_indexes_and_answers_without_a_network(image: CleanRoot, data: Path):
    (data / "a.txt").write_text("The observatory of Uraniborg was founded by Tycho Brahe on the island of Hven.")
    ask = ["hopweave", "ask", QUESTION, "--corpus", "sky", "--json"]
    for command in (["hopweave", "ingest", "a.txt", "--corpus", "sky"], ask):
        done = image.run(command, network=False, timeout=300)
        assert done.returncode == 0, done.stderr
    assert "Tycho Brahe" in json.loads(done.stdout)["answer"]


def test_it_serves_and_its_health_check_sees_that(image: CleanRoot):
    [check] = [json.loads(one.rest.partition(" CMD ")[2]) for one in instructions() if one.word == "HEALTHCHECK"]
    [serve] = [json.loads(one.rest) for one in instructions() if one.word == "CMD"]
    script = f"""
        {shlex.join(check)} 2> /dev/null && echo too early
        {shlex.join(["hopweave", *serve])} & server=$!
        for turn in $(seq 120); do {shlex.join(check)} 2> /dev/null && break; sleep 0.5; done
        {shlex.join(check)} && echo healthy
        kill $server; wait $server; echo ended with $?
    """
    done = image.run(["sh", "-c", script], network=False, environment={"HOPWEAVE_API__KEYS": '["a key"]'}, timeout=300)
    assert done.stdout.splitlines()[-2:] == ["healthy", "ended with 0"], done.stdout + done.stderr
    assert "too early" not in done.stdout


def test_it_refuses_to_serve_beyond_itself_without_a_key(image: CleanRoot):
    [serve] = [json.loads(one.rest) for one in instructions() if one.word == "CMD"]
    done = image.run(["hopweave", *serve], network=False, timeout=300)
    assert done.returncode == 2
    assert "HOPWEAVE_API__KEYS" in done.stderr
