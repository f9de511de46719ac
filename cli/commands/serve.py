"""`hopweave serve` and `hopweave worker`: processes that run until they are stopped."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output.console import print_status
from core.errors import FolderHeld, InvalidInput

if TYPE_CHECKING:
    from core.settings import Settings

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("worker")(worker)


def serve(
    host: Annotated[str, typer.Option(help="The address; other than loopback, HOPWEAVE_API__KEYS must be set.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="The number of processes that answer requests.")] = 1,
    descriptor: Annotated[
        int | None, typer.Option("--socket", hidden=True, help="A listening socket that the parent passed on.")
    ] = None,
) -> None:
    """Serve the HTTP API. With a data folder, a worker process runs too and indexes submitted documents."""
    from api.serving import serve as serve_http
    from core.settings import read_settings

    serve_http(read_settings(), host=host, port=port, processes=workers, descriptor=descriptor)


def worker(
    concurrency: Annotated[
        int, typer.Option(min=1, max=256, help="The number of worker processes; more than one only with servers.")
    ] = 1,
) -> None:
    """Index queued documents until interrupted. With a data folder, `serve` and `ingest` start a worker.
    With servers, run this command any number of times, on any hosts.
    """
    from core.settings import read_settings

    settings = read_settings()
    if settings.on_servers:
        raise typer.Exit(0 if _work_over_servers(settings, concurrency) else 1)
    if concurrency > 1:
        raise InvalidInput(
            f"--concurrency {concurrency}: a data folder has one worker, which uses all cores; for more workers, keep "
            "the record on a server (HOPWEAVE_STORE__RECORD=neo4j)"
        )
    _work_in_folder(settings)


def _work_in_folder(settings: "Settings") -> None:
    import signal
    import threading

    from app.worker.folder_lock import holder, is_held
    from app.worker.supervision import Supervision

    if is_held(settings.data_dir):
        who = holder(settings.data_dir)
        by = f"process {who.pid}" if who else "another process"
        raise FolderHeld(f"the data folder {settings.data_dir} is locked by {by}, which is already its worker")
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    with Supervision(settings) as supervision:
        print_status(f"working on {settings.data_dir}; the log is {supervision.log}")
        told.wait()
        print_status("stopping: finishing the current write")


def _work_over_servers(settings: "Settings", concurrency: int) -> bool:
    """Returns whether all processes ended normally. Each process logs to standard error."""
    import logging

    from app.doctor.readiness import check_at_start
    from app.worker.workers import Workers
    from cli.runtime import run_with_container

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    run_with_container(check_at_start, settings)
    return Workers(settings, concurrency).run()
