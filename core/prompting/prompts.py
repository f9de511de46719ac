"""Prompts as Markdown files beside the code that uses them, loaded by name, strict about variables.

A prompt is `NAME.md` in a folder of a package. The text above the line `--- user ---` is the system message, the text
below it the user's. `{{name}}` is a variable; the value of a variable is never expanded again.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from core.ids import digest
from core.ports.chat import Message, Speaker

__all__ = ["Prompt", "list_prompt_files", "list_prompt_names", "load_prompt"]

_DIVIDER = "--- user ---"
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_OWN_LINE = re.compile(r"^\{\{(\w+)\}\}(?:\n\n?|\Z)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The two templates of a prompt. `hash` changes with the wording; cache keys and evaluation reports contain it."""

    name: str
    system: str
    user: str

    @property
    def hash(self) -> str:
        return digest("prompt", [self.name, self.system, self.user])[:16]

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(_VARIABLE.findall(self.system + self.user))

    def messages(self, variables: Mapping[str, str]) -> tuple[Message, Message]:
        """Returns the two messages; raises `KeyError`, naming variables that are missing or unknown."""
        wrong = self.variables ^ variables.keys()
        if wrong:
            raise KeyError(f"prompt {self.name!r}: {', '.join(sorted(wrong))}")
        return (
            Message(speaker=Speaker.SYSTEM, content=_fill(self.system, variables)),
            Message(speaker=Speaker.USER, content=_fill(self.user, variables)),
        )


def _fill(template: str, variables: Mapping[str, str]) -> str:
    """Returns the template with the values of its variables. An empty value that has a line of its own takes that
    line, and a blank one after it, along.
    """
    kept = _OWN_LINE.sub(lambda found: found[0] if variables[found[1]] else "", template)
    return _VARIABLE.sub(lambda found: variables[found[1]], kept).strip()


@cache
def load_prompt(package: str, name: str) -> Prompt:
    """Returns the prompt in the file `NAME.md` of a package."""
    text = resources.files(package).joinpath(f"{name}.md").read_text(encoding="utf-8")
    system, divider, user = text.partition(_DIVIDER)
    if not divider:
        raise ValueError(f"{package}/{name}.md lacks the line {_DIVIDER!r}")
    return Prompt(name=name, system=system.strip(), user=user.strip())


def list_prompt_names(*packages: str) -> frozenset[str]:
    """Returns the names of all prompts in these packages and below them."""
    return frozenset(path.name.removesuffix(".md") for package in packages for path in list_prompt_files(package))


def list_prompt_files(package: str) -> list[Traversable]:
    """Returns the files `NAME.md` of a package and those below it, by name.

    The folders do not count in the order, so moving a prompt changes no fingerprint.
    """
    found: list[tuple[str, Traversable]] = []
    folders = [("", resources.files(package))]
    while folders:
        at, folder = folders.pop()
        for item in folder.iterdir():
            if item.is_dir():
                folders.append((f"{at}/{item.name}", item))
            elif item.name.endswith(".md"):
                found.append((f"{at}/{item.name}", item))
    return [item for path, item in sorted(found, key=lambda pair: (pair[1].name, pair[0]))]
