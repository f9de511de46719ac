"""`hopweave jobs …`."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.data.data import run_with_data
from cli.options import AsJson
from cli.output.console import fields, print_json, print_result, table
from core.jobs import JobKind, JobState

if TYPE_CHECKING:
    from cli.data.data import Data
    from core.jobs import Job


_group = typer.Typer(name="jobs", help="List, show, cancel and resume jobs.", no_args_is_help=True)
_Id = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]


def register(app: typer.Typer) -> None:
    app.add_typer(_group)


@_group.command("list")
def list_jobs(
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus", "-c", help="Only jobs of a corpus, by its name when the job was made.", show_default=False
        ),
    ] = None,
    kind: Annotated[JobKind | None, typer.Option(help="Only jobs of this kind.", show_default=False)] = None,
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.", show_default=False)] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The largest number of jobs.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="`next_cursor` of the last page.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    jobs, next_cursor = run_with_data(
        lambda data: data.list_jobs(corpus=corpus, kind=kind, state=state, limit=limit, cursor=cursor)
    )
    if as_json:
        print_json({"data": jobs, "next_cursor": next_cursor})
        return
    rows = ((job.id, job.corpus_name, job.kind, job.state, job.created_at, job.counts) for job in jobs)
    table(("id", "corpus", "kind", "state", "created", "documents"), rows)
    if next_cursor is not None:
        print_result(f"there are more: --cursor {next_cursor}")


@_group.command("show")
def show_job(id: _Id, as_json: AsJson = False) -> None:
    """Show one job."""
    _show(run_with_data(lambda data: data.show_job(id)), as_json=as_json)


@_group.command("cancel")
def cancel_job(id: _Id, as_json: AsJson = False) -> None:
    """Cancel a job. Finished documents stay."""
    _show(run_with_data(lambda data: data.cancel_job(id)), as_json=as_json)


@_group.command("resume")
def resume_job(
    id: _Id,
    budget_tokens: Annotated[
        int | None, typer.Option(min=1, help="The new token budget. Default: as before.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Resume a job that its budget paused, and wait for it. Stored extractions are not paid for again."""

    async def work(data: "Data") -> "Job":
        return await data.complete(await data.resume_job(id, tokens=budget_tokens))

    job = run_with_data(work)
    _show(job, as_json=as_json)
    if job.counts.get("failed") or not job.state.final:
        raise typer.Exit(1)


def _show(job: "Job", *, as_json: bool) -> None:
    if as_json:
        print_json({**vars(job), "note": job.note})
        return
    from cli.output.progress import describe_ahead, describe_progress

    shown = {name: value for name, value in vars(job).items() if name != "failures"}
    shown |= {} if job.note is None else {"note": job.note}
    shown |= {"progress": describe_progress(job.counts, job.progress).removeprefix("indexing: ")}
    shown |= {} if job.fits is None else {"fits": job.fits.describe()}
    fields(shown | {"ahead": describe_ahead(job.ahead) or None})
    for key, reason in job.failures:
        print_result(f"{key}: {reason}")
