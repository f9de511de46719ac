"""A Dockerfile as its instructions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DOCKERFILE", "ROOT", "Instruction", "instructions", "stages"]

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "docker" / "Dockerfile"


@dataclass(frozen=True, kw_only=True)
class Instruction:
    word: str
    rest: str

    @property
    def flags(self) -> dict[str, str]:
        """What stands before the arguments, such as `--from=build`."""
        return dict(re.findall(r"--([a-z-]+)=(\S+)", self.rest.partition(" CMD ")[0]))

    @property
    def arguments(self) -> list[str]:
        return [part for part in self.rest.split() if not part.startswith("--")]

    @property
    def assignments(self) -> dict[str, str]:
        """Of ENV and ARG; quoted values hold no spaces here."""
        return {name: value.strip('"') for name, _, value in (part.partition("=") for part in self.rest.split())}


def instructions(text: str | None = None) -> Iterator[Instruction]:
    lines = (text if text is not None else DOCKERFILE.read_text("utf-8")).splitlines()
    kept = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    for line in kept.replace("\\\n", " ").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield Instruction(word=word, rest=re.sub(r" {2,}(?=&&|\S)", " ", rest).strip() if word != "RUN" else rest)


def stages() -> list[list[Instruction]]:
    """The instructions of each stage, each beginning with its FROM."""
    found: list[list[Instruction]] = []
    for one in instructions():
        if one.word == "FROM":
            found.append([])
        found[-1].append(one)
    return found
