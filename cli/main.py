"""The console script `hopweave`.

Wrong usage is told in one line that names the option and what is allowed.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli.commands import entities, prompts, questions, stored_questions, version
from cli.commands.corpora import corpora, documents, export, ingest, jobs
from cli.commands.operation import backup, certificates, doctor, keys, mcp, migrate, serve
from cli.output.console import print_status
from core.errors import HopweaveError, InvalidInput, InvalidSettings
from core.text.characters import is_valid_text

_NUMBERS = {"int_parsing": "a whole number", "float_parsing": "a number"}
"""What is allowed instead, by pydantic's type of the fault."""
_RAISED = "Value error, "


def _run_command(app: typer.Typer, arguments: Sequence[str] | None = None, *, name: str | None = None) -> None:
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


app = typer.Typer(
    name="hopweave",
    help="Index documents as passages and a graph; search them, and ask them questions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for group in (
    ingest,
    questions,
    serve,
    mcp,
    corpora,
    documents,
    entities,
    jobs,
    stored_questions,
    export,
    backup,
    doctor,
    prompts,
    keys,
    certificates,
    migrate,
    version,
):
    group.register(app)


@app.callback()
def start(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=version.show, help="Print the version.")
    ] = False,
) -> None:
    """Takes the options that stand before a command."""


_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command("eval", add_help_option=False, context_settings=_PASSED_ON)
def _evaluate(context: typer.Context) -> None:
    """Measure retrieval and answers on question sets."""
    from cli.commands.evaluation.eval import register  # imports the whole application; other commands do not need it

    _pass_on("eval", register, context.args)


@app.command("eval-report", add_help_option=False, context_settings=_PASSED_ON)
def _report(context: typer.Context) -> None:
    """Make a page of stored rows of `eval`."""
    from cli.commands.evaluation.eval_report import register  # also imports the whole application

    _pass_on("eval-report", register, context.args)


@app.command("reproduce", add_help_option=False, context_settings=_PASSED_ON)
def _reproduce(context: typer.Context) -> None:
    """List the tables of the papers, or run one."""
    from cli.commands.evaluation.reproduce import register  # also imports the whole application

    _pass_on("reproduce", register, context.args)


@app.command("calibrate-extractive", add_help_option=False, context_settings=_PASSED_ON)
def _calibrate_extractive(context: typer.Context) -> None:
    """Find the probability below which `extractive` declines."""
    from cli.commands.evaluation.calibrate_extractive import register  # also imports the whole application

    _pass_on("calibrate-extractive", register, context.args)


@app.command("train-ranker", add_help_option=False, context_settings=_PASSED_ON)
def _train_ranker(context: typer.Context) -> None:
    """Train a ranker for `bridged` on question sets."""
    from cli.commands.evaluation.train_ranker import register  # also imports the whole application

    _pass_on("train-ranker", register, context.args)


@app.command("import-dataset", add_help_option=False, context_settings=_PASSED_ON)
def _import_dataset(context: typer.Context) -> None:
    """Convert a public question set to a folder for `eval`."""
    from cli.commands.evaluation.import_dataset import register  # also imports the whole application

    _pass_on("import-dataset", register, context.args)


@app.command("add-noise", add_help_option=False, context_settings=_PASSED_ON)
def _add_noise(context: typer.Context) -> None:
    """Write a noisy copy of a question set for `eval`."""
    from cli.commands.evaluation.add_noise import register  # also imports the whole application

    _pass_on("add-noise", register, context.args)


def _pass_on(name: str, register: Callable[[typer.Typer], None], arguments: list[str]) -> None:
    """Runs a command whose module is imported only now."""
    command = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, add_completion=False)
    register(command)
    _run_command(command, arguments, name=f"hopweave {name}")


def run() -> None:
    """Runs the command line. Exit codes: 0 done, 1 failed with one line on stderr, 2 wrong usage, 130 interrupted."""
    for argument in sys.argv[1:]:
        if _is_no_text(argument) and not Path(argument).exists():
            print_status(f"hopweave: the argument {argument!r} is no {sys.getfilesystemencoding().upper()} text")
            sys.exit(2)
    try:
        _run_command(app)
    except HopweaveError as error:
        print_status(f"hopweave: {' '.join(str(error).split())}")
        sys.exit(2 if isinstance(error, InvalidInput) and not isinstance(error, InvalidSettings) else 1)


def _is_no_text(argument: str) -> bool:
    """Returns whether the argument holds bytes that could not be decoded (lone surrogates)."""
    return not is_valid_text(argument)
