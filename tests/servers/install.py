"""What the servers need, from Debian, Maven Central and PyPI; what is there already is left alone."""

import fcntl
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import rabbitmq_server
from tests.servers.server import INSTALLED, NotStarted

_HERE = Path(__file__).resolve().parent
_COMPOSE = _HERE.parents[1] / "docker" / "compose.yaml"


@dataclass(frozen=True, kw_only=True)
class Part:
    """Something to install: commands (each with Debian's package that has it), and what a file pins."""

    commands: Mapping[str, str]
    """Needed to run it."""
    build_commands: Mapping[str, str]
    """Needed only while `pinned` is not installed yet."""
    pinned: Path | None = None
    build: Callable[[Path, Path, str], None] | None = None
    """Fills an empty folder with what the file pins, in this version."""
    version: str = ""
    """Where the file leaves the version open: the one that docker/compose.yaml pins."""
    files: Mapping[Path, str] = field(default_factory=dict)
    """Files that have to exist, each with Debian's package that has it."""

    def missing_packages(self, commands: Mapping[str, str]) -> set[str]:
        """Returns the packages of those of the commands, and of the files, that do not exist."""
        absent = {package for command, package in commands.items() if shutil.which(command) is None}
        return absent | {package for file, package in self.files.items() if not file.exists()}


def install(names: Iterable[str], to: Path = INSTALLED) -> None:
    """Raises `NotStarted` when something is missing that cannot be installed from here."""
    to.mkdir(parents=True, exist_ok=True)
    with (to / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        chosen = {name: PARTS[name] for name in names}
        stale = {name for name, part in chosen.items() if not _is_current(part, to / name)}
        _debian_packages(
            package
            for name, part in chosen.items()
            for package in part.missing_packages({**part.commands, **(part.build_commands if name in stale else {})})
        )
        for name in sorted(stale):
            _build(name, chosen[name], to / name)


def require(name: str) -> None:
    """Raises `NotStarted` unless it is installed; installs nothing."""
    part = PARTS[name]
    if part.missing_packages(part.commands) or not _is_current(part, INSTALLED / name):
        raise NotStarted(f"{name} is not installed as pinned: run `python -m tests.servers install {name}`")


def _debian_packages(packages: Iterable[str]) -> None:
    missing = sorted(set(packages))
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NotStarted(f"missing: {' '.join(missing)} (as Debian names them); as root: apt-get install …")
    print(f"apt-get install {' '.join(missing)}", flush=True)
    quiet = ["apt-get", "--quiet=2", "--yes", "-o", "DPkg::Lock::Timeout=300"]
    policy = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # else Debian starts servers of its own at once
    _run([*quiet, "update"], policy)
    _run([*quiet, "install", "--no-install-recommends", *missing], policy)
    _keep_down([unit for package in missing for unit in _SERVICES.get(package, ())])


def _keep_down(units: Sequence[str]) -> None:
    """What Debian would start after each boot; some of it runs already, where the package took no notice of us."""
    if not units or shutil.which("systemctl") is None:
        return
    _run(["systemctl", "disable", "--quiet", *units])
    if Path("/run/systemd/system").is_dir():  # as systemd itself finds out whether it has booted this machine
        _run(["systemctl", "stop", *units])


def _is_current(part: Part, folder: Path) -> bool:
    stamp = folder / "installed"
    return part.pinned is None or (stamp.is_file() and stamp.read_text("utf-8") == _digest(part.pinned, part.version))


def _build(name: str, part: Part, folder: Path) -> None:
    """A version that was there before is replaced as a whole, once the new one is whole."""
    if part.pinned is None or part.build is None:
        return
    print(f"installing {name} into {folder}", flush=True)
    folder.mkdir(exist_ok=True)
    fresh, place = folder / "program.new", folder / "program"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    part.build(part.pinned, fresh, part.version)
    shutil.rmtree(place, ignore_errors=True)
    fresh.rename(place)
    (folder / "installed").write_text(_digest(part.pinned, part.version), "utf-8")


def _jars(pom: Path, folder: Path, version: str) -> None:
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={folder}", f"-Dserver.version={version}"]
    _run(["mvn", "-B", "-q", "-f", str(pom), "dependency:copy-dependencies", *options])


def _milvus(lock: Path, folder: Path, _version: str) -> None:
    """The package is a wrapping of packed binaries and the templates of their settings; only these are kept."""
    package = folder / "package"
    _run([_uv(), "pip", "install", "--quiet", "--require-hashes", "--target", str(package), "--requirement", str(lock)])
    data = package / "milvus" / "data"
    for packed in (data / "bin").glob("*.lzma"):
        program = folder / packed.stem
        with lzma.open(packed) as source, program.open("wb") as target:
            shutil.copyfileobj(source, target)
        program.chmod(0o755)
    for template in ("config.yaml.template", "glog.conf"):
        shutil.move(data / template, folder / template)
    shutil.rmtree(package)


def _environment(lock: Path, folder: Path, _version: str) -> None:
    _run([_uv(), "venv", "--quiet", "--relocatable", "--python", sys.executable, str(folder / "venv")])
    python = str(folder / "venv" / "bin" / "python")
    _run([_uv(), "pip", "install", "--quiet", "--require-hashes", "--python", python, "--requirement", str(lock)])


def _uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else "uv"


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as missing:
        raise NotStarted(f"{command[0]} is not installed; `make develop` and `make servers` install all") from missing
    if done.returncode != 0:
        raise NotStarted(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def _digest(file: Path, version: str) -> str:
    return hashlib.sha256(file.read_bytes() + version.encode()).hexdigest()


def image_version(image: str) -> str:
    """The version of an image that docker/compose.yaml pins, such as 5.26.30 of `neo4j:5.26.30-community`."""
    found = re.search(rf"^\s*image: {image}:v?([\d.]+)", _COMPOSE.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise NotStarted(f"{_COMPOSE.name} pins no version of {image}")
    return found[1]


_JAVA = {"java": "default-jre-headless"}
_MAVEN = {"mvn": "maven"}
_FONT = Path("/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf")
"""A font as narrow as Browser's own. In a wider one, captions are cut."""
_SERVICES = {
    "redis-server": ["redis-server.service"],
    "rabbitmq-server": ["rabbitmq-server.service", "epmd.service", "epmd.socket"],
}
PARTS: Mapping[str, Part] = {
    "redis": Part(commands={"redis-server": "redis-server"}, build_commands={}),
    "neo4j": Part(
        commands=_JAVA,
        build_commands=_MAVEN,
        pinned=_HERE / "poms" / "neo4j.xml",
        build=_jars,
        version=image_version("neo4j"),
    ),
    "milvus": Part(commands={}, build_commands={}, pinned=_HERE / "locks" / "milvus.txt", build=_milvus),
    "milvus-lite": Part(commands={}, build_commands={}, pinned=_HERE / "locks" / "milvus-lite.txt", build=_environment),
    "s3": Part(commands=_JAVA, build_commands=_MAVEN, pinned=_HERE / "poms" / "s3.xml", build=_jars),
    "rabbitmq": Part(commands={rabbitmq_server.PROGRAM: "rabbitmq-server"}, build_commands={}),
    "chromium": Part(commands={"chromium": "chromium"}, build_commands={}, files={_FONT: "fonts-liberation"}),
}
