"""Prompts as Markdown files beside the code that uses them, loaded by name, strict about variables.

A prompt is `NAME.md` in a folder of a package. The text above the line `--- user ---` is the system message, the text
below it the user's. `{{name}}` is a variable; the value of a variable is never expanded again. A first line such as
`--- reply: list ---` names the form of the reply, which is JSON of a schema without it. Within `use_prompts`, prompts
of a library replace the packages' prompts.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from core.ids import digest
from core.ports.chat import Message, ReplyForm, Speaker

__all__ = [
    "DIVIDER",
    "Prompt",
    "PromptLibrary",
    "list_prompt_files",
    "list_prompt_names",
    "load_prompt",
    "parse_prompt",
    "use_prompts",
]

DIVIDER = "--- user ---"
"""The line between the two messages of a prompt."""

_REPLY = re.compile(r"\s*+--- reply: (\w{1,40}+) ---[ \t]*+(?:\r?\n|\Z)")
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_OWN_LINE = re.compile(r"^\{\{(\w+)\}\}(?:\n\n?|\Z)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The two templates of a prompt, and the form of the reply that it asks for.

    `hash` changes with the wording and the form; cache keys and evaluation reports contain it. `left_out` are variables
    that a call sets and the prompt does not use.
    """

    name: str
    system: str
    user: str
    reply: ReplyForm = ReplyForm.JSON
    left_out: frozenset[str] = frozenset()

    @property
    def hash(self) -> str:
        form = [] if self.reply is ReplyForm.JSON else [str(self.reply)]
        return digest("prompt", [self.name, self.system, self.user, *form])[:16]

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(_VARIABLE.findall(self.system + self.user))

    def messages(self, variables: Mapping[str, str]) -> tuple[Message, Message]:
        """Returns the two messages; raises `KeyError`, naming variables that are missing or unknown."""
        wrong = (self.variables ^ variables.keys()) - self.left_out
        if wrong:
            raise KeyError(f"prompt {self.name!r}: {', '.join(sorted(wrong))}")
        return (
            Message(speaker=Speaker.SYSTEM, content=_fill(self.system, variables)),
            Message(speaker=Speaker.USER, content=_fill(self.user, variables)),
        )


def _fill(template: str, variables: Mapping[str, str]) -> str:
    """Returns the template with the values of its variables. An empty value that is alone on its line deletes that line
    and a blank line after it.
    """
    kept = _OWN_LINE.sub(lambda found: found[0] if variables[found[1]] else "", template)
    return _VARIABLE.sub(lambda found: variables[found[1]], kept).strip()


@dataclass(frozen=True, kw_only=True)
class PromptLibrary:
    """Prompts that replace the packages' prompts, by name. The name of a prompt is the same in all packages."""

    replaced: Mapping[str, Prompt] = field(default_factory=dict)


_NONE_REPLACED = PromptLibrary()
_library: ContextVar[PromptLibrary] = ContextVar("prompt library", default=_NONE_REPLACED)


@contextmanager
def use_prompts(library: PromptLibrary) -> Iterator[None]:
    """Makes `load_prompt` return the prompts of the library, in this task and in tasks that it starts meanwhile."""
    before = _library.set(library)
    try:
        yield
    finally:
        _library.reset(before)


def load_prompt(package: str, name: str) -> Prompt:
    """Returns the prompt of this name: from the library in use, else from the file `NAME.md` of the package."""
    return _library.get().replaced.get(name) or _load(package, name)


@cache
def _load(package: str, name: str) -> Prompt:
    return parse_prompt(name, resources.files(package).joinpath(f"{name}.md").read_text(encoding="utf-8"))


def parse_prompt(name: str, text: str) -> Prompt:
    """Returns the prompt with the text of its file.

    Raises `ValueError` if the line between its messages is missing, or its first line names no form of reply.
    """
    found = _REPLY.match(text)
    if found and found[1] not in list(ReplyForm):
        raise ValueError(f"there is no reply {found[1]!r}; there are: {', '.join(ReplyForm)}")
    system, divider, user = text[found.end() if found else 0 :].partition(DIVIDER)
    if not divider:
        raise ValueError(f"the line {DIVIDER!r} is missing; write it between the system message and the user's")
    reply = ReplyForm(found[1]) if found else ReplyForm.JSON
    return Prompt(name=name, system=system.strip(), user=user.strip(), reply=reply)


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
