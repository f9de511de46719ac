"""`hopweave serve` and `hopweave worker`: what runs until it is told to stop."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output.console import say
from core.errors import FolderHeld, InvalidInput

if TYPE_CHECKING:
    from core.settings import Settings

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("worker")(worker)


def serve(
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine, HOPWEAVE_API__KEYS must be set.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many processes answer requests.")] = 1,
) -> None:
    """Answer over HTTP; in one data folder with a worker beside that indexes what is handed in."""
    from api.serving import serve as serve_http
    from core.settings import read_settings

    serve_http(read_settings(), host=host, port=port, processes=workers)


def worker(
    concurrency: Annotated[
        int, typer.Option(min=1, max=256, help="How many processes work; more than one only over servers.")
    ] = 1,
) -> None:
    """Index what is queued, until interrupted. In one data folder, serve and ingest do so by themselves; over servers,
    this is what does, any number of times on any hosts.
    """
    from core.settings import read_settings

    settings = read_settings()
    if settings.on_servers:
        raise typer.Exit(0 if _work_over_servers(settings, concurrency) else 1)
    if concurrency > 1:
        raise InvalidInput(
            f"--concurrency {concurrency}: one worker writes a data folder, and it uses all cores; for more, keep the "
            "record on a server (HOPWEAVE_STORE__RECORD=neo4j)"
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
        raise FolderHeld(f"the data folder {settings.data_dir} is held by {by}, which does its work already")
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    with Supervision(settings) as supervision:
        say(f"working on {settings.data_dir}; what happens is written to {supervision.log}")
        told.wait()
        say("finishing what is being written")


def _work_over_servers(settings: "Settings", concurrency: int) -> bool:
    """Whether all ended in peace. What happens is written to standard error, by each process."""
    import logging

    from app.doctor.readiness import check_at_start
    from app.worker.workers import Workers
    from cli.running import run_with_container

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    run_with_container(check_at_start, settings)
    return Workers(settings, concurrency).run()
