"""The command line as `docs/cli.md` has it. Open it to change that page's form; `make docs` writes it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

__all__ = ["CommandLine", "all_commands", "cli_page"]

_TOP = """# Command line

Every command with its arguments and options. `make docs` makes this page from the code.

`hopweave COMMAND --help` prints the same. Where no default is given, the option is off, unlimited, or comes from the \
[settings](settings.md). Exit codes: 0 done, 1 failed with one line on stderr, 2 wrong usage, 130 interrupted.
"""


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """A command, such as `corpora list`, as it is registered."""

    name: str
    command: Any

    @property
    def arguments(self) -> list[Any]:
        return [one for one in self.command.params if one.param_type_name == "argument"]

    @property
    def options(self) -> list[Any]:
        return [one for one in self.command.params if one.param_type_name == "option" and not one.hidden]

    @property
    def flags(self) -> set[str]:
        """All spellings of all options."""
        return {"--help"} | {flag for one in self.options for flag in (*one.opts, *one.secondary_opts)}


@cache
def all_commands() -> tuple[CommandLine, ...]:
    """In the order of `hopweave --help`, those of a group after each other."""
    from typer.main import get_command

    from cli.main import app

    return tuple(_commands(get_command(app), ()))


def _commands(group: Any, path: tuple[str, ...]) -> Iterator[CommandLine]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield CommandLine(name=" ".join((*path, name)), command=_loaded(name, command))


def _loaded(name: str, command: Any) -> Any:
    """`eval` and its like pass their arguments on to a command that is registered only when it runs."""
    if not command.context_settings.get("allow_extra_args"):
        return command
    from importlib import import_module

    import typer
    from typer.main import get_command

    app = typer.Typer(add_completion=False)
    import_module(f"cli.commands.evaluation.{name.replace('-', '_')}").register(app)
    return get_command(app)


def cli_page() -> str:
    return _TOP + "".join(_section(one) for one in all_commands())


def _section(one: CommandLine) -> str:
    usage = " ".join(["hopweave", one.name, *(_usage(argument) for argument in one.arguments)])
    required = [f" {_option(option)}" for option in one.options if option.required]
    text = f"\n## {one.name}\n\n```\n{usage}{''.join(required)}\n```\n\n{_one_line(one.command.help)}\n"
    if rows := [_row(f"`{_metavar(a)}`", a) for a in one.arguments]:
        text += "\n| argument | default | meaning |\n|---|---|---|\n" + "".join(rows)
    if rows := [_row(f"`{_option(o)}`", o) for o in one.options]:
        text += "\n| option | default | meaning |\n|---|---|---|\n" + "".join(rows)
    return text


def _usage(argument: Any) -> str:
    name = _metavar(argument)
    name = name if argument.nargs == 1 or name.endswith("...") else f"{name}..."
    return name if argument.required else f"[{name}]"


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _option(option: Any) -> str:
    """Its spellings, and the form of its value where it takes one."""
    flags = ", ".join([*option.opts, *option.secondary_opts])
    return flags if option.is_flag else f"{flags} {option.metavar or _value(option)}"


def _value(option: Any) -> str:
    annotation = option.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(member.value) for member in annotation)
    names = {"str": "TEXT", "int": "N", "float": "NUMBER", "Path": "FILE"}
    for part in (annotation, *getattr(annotation, "__args__", ())):
        if getattr(part, "__name__", "") in names:
            return names[part.__name__]
    raise ValueError(f"no name for the values of {option.opts[0]}: {annotation}")


def _row(name: str, parameter: Any) -> str:
    cells = [name, _default(parameter), _one_line(parameter.help or "")]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    value = value.value if isinstance(value, Enum) else value
    if value is None or value is False or value in ([], ""):
        return ""
    return f"`{str(value).lower() if value is True else value}`"


def _one_line(text: str) -> str:
    return " ".join(text.split())
