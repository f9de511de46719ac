"""`hopweave serve` and `hopweave worker`: processes that run until they are stopped."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output.console import print_status

if TYPE_CHECKING:
    from core.settings import Settings


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("worker")(worker)


def serve(
    host: Annotated[
        str, typer.Option(help="The address; other than loopback, there must be a key (`hopweave keys`).")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="The number of processes that answer requests.")] = 1,
    opens: Annotated[bool, typer.Option("--open", help="Open the web page in the browser.")] = False,
    descriptor: Annotated[
        int | None, typer.Option("--socket", hidden=True, help="A listening socket that the parent passed on.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option("--log", hidden=True, help="The file of the log, which is kept within bounds.")
    ] = None,
) -> None:
    """Serve the HTTP API and the web page. With a data folder, a worker process runs too and indexes submitted
    documents.
    """
    from api.serving import serve as serve_http
    from core.settings import read_settings

    serve_http(read_settings(), host=host, port=port, processes=workers, opens=opens, descriptor=descriptor, log=log)


def worker(
    concurrency: Annotated[
        int, typer.Option(min=1, max=256, help="The number of worker processes; more than one only with servers.")
    ] = 1,
) -> None:
    """Index queued documents until interrupted. With a data folder, `serve` and `ingest` start a worker.
    With servers, run this command any number of times, on any hosts.
    """
    from app.composition import choose_composition
    from app.container import read_prompts
    from app.container.prompts import check_roles
    from app.telemetry.prometheus import serve_worker_metrics
    from core.settings import read_settings

    settings = read_settings()
    # Worker processes check these, too, and would end with an error again and again.
    check_roles(settings.llm)
    read_prompts(settings)
    composition = choose_composition(settings)
    if composition.waits_for_servers:
        _check_servers(settings)
    with serve_worker_metrics(settings.metrics):
        ended = composition.run_workers(concurrency, print_status)
    if not ended:
        raise typer.Exit(1)


def _check_servers(settings: "Settings") -> None:
    """Raises `InvalidSettings` if a server refuses access. Each process logs to standard error."""
    from app.doctor.readiness import check_at_start
    from app.telemetry.logs import configure_logs
    from cli.runtime import run_with_container

    configure_logs(settings.log)
    run_with_container(check_at_start, settings)
