"""Runs commands, and tells of wrong usage in one line that names the option and what is allowed."""

import sys
from collections.abc import Sequence

import typer

from cli.output.console import print_status

__all__ = ["run_command"]

_NUMBERS = {"int_parsing": "a whole number", "float_parsing": "a number"}
"""What is allowed instead, by pydantic's type of the fault."""
_RAISED = "Value error, "


def run_command(app: typer.Typer, arguments: Sequence[str] | None = None, *, name: str | None = None) -> None:
    """Runs a command, by default with the arguments of the process, and ends the process with its exit code."""
    try:
        code = app(None if arguments is None else list(arguments), prog_name=name, standalone_mode=False)
    except typer.TyperException as error:
        text = error.format_message()
        # A group without a command: the message is its help.
        print_status(text if "\n" in text else f"hopweave: {_describe(error, text)}")
        sys.exit(error.exit_code)
    except typer.Abort:
        print_status("hopweave: stopped, as it was not confirmed; nothing was done")
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _describe(error: typer.TyperException, text: str) -> str:
    """Returns the message with the command whose help tells more."""
    if isinstance(error, typer.BadParameter):
        text = text.replace(error.message, _describe_value(error)) if error.message else text
    context = getattr(error, "ctx", None)
    help_of = f"; see `{context.command_path} --help`" if context is not None else ""
    return f"{text.rstrip('.')}{help_of}"


def _describe_value(error: typer.BadParameter) -> str:
    """Returns what is wrong with a value, without the words of pydantic, which converts it."""
    from pydantic import ValidationError

    if isinstance(error.__cause__, ValidationError):
        fault = error.__cause__.errors()[0]
        if fault["type"] in _NUMBERS:
            return f"{fault['input']!r} is not {_NUMBERS[fault['type']]}"
        if fault["type"].startswith(("greater_than", "less_than")):
            limit = fault["msg"].removeprefix("Input should be ")
            return f"{fault['input']} is not {limit}"
    return error.message.removeprefix(_RAISED)
