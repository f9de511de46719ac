"""`hopweave questions …`: stored questions, and questions that are made from a corpus."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.data.data import run_with_data
from cli.options import AsJson
from cli.output.console import counted, fields, print_json, print_result, print_status, table

if TYPE_CHECKING:
    from cli.flows.reading import Server


_group = typer.Typer(
    name="questions",
    help="List stored questions, show them, ask them again and compare; make questions of a corpus.",
    no_args_is_help=True,
)
_Id = Annotated[str, typer.Argument(metavar="ID", help="The question's id.")]
_Corpus = Annotated[str, typer.Option("--corpus", "-c", help="The corpus.")]
_Server = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Ask this server, such as http://127.0.0.1:8000.", show_default=False),
]
_ApiKey = Annotated[
    str | None,
    typer.Option(envvar="HOPWEAVE_API_KEY", metavar="KEY", help="A key of the server of --server.", show_default=False),
]
Json = Mapping[str, Any]
_SHOWN = ("recall@5", "all_recall@5", "mrr")
_MEASUREMENTS = 4
"""Earlier measurements that are shown."""
_LISTED = 60
"""Characters of a question in a list."""


def register(app: typer.Typer) -> None:
    app.add_typer(_group)


@_group.command("make")
def make(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder for the questions.")],
    corpus: _Corpus,
    count: Annotated[int, typer.Option("-n", "--count", min=1, max=10_000, help="How many questions, at most.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The seed by which questions are drawn.")] = 0,
    kinds: Annotated[
        str | None,
        typer.Option(
            metavar="KIND,…", help="Such as single,two_hop,comparison,cell,clause,count,unanswerable. Default: all."
        ),
    ] = None,
    server: _Server = None,
    api_key: _ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Make questions with known answers from the facts and tables of a corpus.

    The folder can be given to `hopweave eval FOLDER --corpus NAME`. No model is asked.
    """
    from cli.flows.made_questions import make_questions  # imports the evaluation; other commands do not need it

    made = make_questions(folder, corpus, count, seed, kinds, _choose_server(server, api_key))
    if as_json:
        print_json(made)
        return
    print_result(f"{folder}: {counted(len(made['questions']), 'question')}")
    table(("kind", "made", "possible"), [(kind["kind"], kind["made"], kind["possible"]) for kind in made["kinds"]])
    for note in made["notes"]:
        print_status(note)


@_group.command("measure")
def measure(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder with questions, such as made ones.")],
    corpus: _Corpus,
    searchers: Annotated[
        list[str] | None,
        typer.Option("--searcher", metavar="NAME", help="A searcher to measure; repeatable. Default: fused."),
    ] = None,
    server: _Server = None,
    api_key: _ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well searchers find the supports of questions, beside the last measurements of the folder.

    Questions of documents that are not there any more are not asked.
    """
    from cli.flows.made_questions import measure_questions

    measured, before = measure_questions(folder, corpus, searchers or ["fused"], _choose_server(server, api_key))
    if as_json:
        print_json(measured)
        return
    rows = [
        (one["measured_at"][:19], one["asked"], row["searcher"], *(_percent(row["scores"], name) for name in _SHOWN))
        for one in (*before[-_MEASUREMENTS:], measured)
        for row in one["searchers"]
    ]
    table(("measured", "questions", "searcher", *_SHOWN), rows)
    if measured["gone"]:
        print_status(f"{counted(len(measured['gone']), 'question')} not asked: their documents are not there any more")


def _percent(scores: Json, name: str) -> str:
    return f"{100 * scores[name]:.1f}" if name in scores else "-"


def _choose_server(url: str | None, api_key: str | None) -> "Server | None":
    from cli.flows.reading import Server

    return None if url is None else Server(url=url, api_key=api_key)


@_group.command("list")
def list_questions(
    corpus: _Corpus,
    kept: Annotated[bool | None, typer.Option("--kept/--not-kept", help="Only those.", show_default=False)] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The largest number of questions.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="`next_cursor` of the last page.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the questions that were asked in the background, newest first."""
    found, next_cursor = run_with_data(lambda data: data.list_questions(corpus, kept=kept, limit=limit, cursor=cursor))
    if as_json:
        print_json({"data": found, "next_cursor": next_cursor})
        return
    table(("id", "state", "asked", "marks", "question"), [_row(one) for one in found])
    if next_cursor is not None:
        print_result(f"there are more: --cursor {next_cursor}")


@_group.command("show")
def show_question(id: _Id, corpus: _Corpus, as_json: AsJson = False) -> None:
    """Show one question with its answer."""
    _show(run_with_data(lambda data: data.show_question(corpus, id)), as_json=as_json)


@_group.command("again")
def ask_again(id: _Id, corpus: _Corpus, as_json: AsJson = False) -> None:
    """Ask a question again, as it was, and wait for the answer."""
    asked = run_with_data(lambda data: data.ask_again(corpus, id))
    _show(asked, as_json=as_json)
    if asked["answer"] is None:
        raise typer.Exit(1)


@_group.command("changes")
def show_changes(id: _Id, corpus: _Corpus, as_json: AsJson = False) -> None:
    """Show what changed since the question that this one asks again."""
    found = run_with_data(lambda data: data.compare_question(corpus, id))
    if as_json:
        print_json(found)
        return
    before, after = (_describe(found, side) for side in ("before", "after"))
    fields({"answer": "the same" if found["same_answer"] else "another one", "before": before, "after": after})
    for name, documents in found["documents"].items():
        for one in documents:
            print_result(f"{name}: {one['title']} ({one['key']})")


@_group.command("keep")
def keep_question(
    id: _Id,
    corpus: _Corpus,
    off: Annotated[bool, typer.Option("--off", help="Keep it no longer.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a question: it is not deleted after some days."""
    _show(run_with_data(lambda data: data.keep_question(corpus, id, kept=not off)), as_json=as_json)


@_group.command("delete")
def delete_question(id: _Id, corpus: _Corpus, as_json: AsJson = False) -> None:
    """Delete a question with its answer."""
    run_with_data(lambda data: data.delete_question(corpus, id))
    if as_json:
        print_json({"deleted": id})
    else:
        print_result(f"deleted question {id}")


def _row(question: Json) -> tuple[str, ...]:
    text = question["question"]
    shown = text if len(text) <= _LISTED else f"{text[: _LISTED - 1]}…"
    return question["id"], question["state"], question["asked_at"][:19], _marks(question), shown


def _marks(question: Json) -> str:
    return ", ".join(name for name in ("kept", "outdated", "withdrawn") if question[name])


def _show(question: Json, *, as_json: bool) -> None:
    if as_json:
        print_json(question)
        return
    shown = {name: question[name] for name in ("id", "question", "state", "asked_at", "answered_at", "again_of")}
    fields({**shown, "marks": _marks(question)})
    if question["answer"] is not None:
        from cli.output.results import show_answer

        print_result()
        show_answer(question["answer"])
    elif question["problem"] is not None:
        print_result(question["problem"]["detail"])
    elif question["withdrawn"]:
        print_result("a document that was retrieved has been deleted, and the answer with it")


def _describe(changes: Json, side: str) -> str:
    text, support = changes["answer"][side], changes["support"][side]
    return "(no answer is there)" if text is None else f"{text} ({support})"
