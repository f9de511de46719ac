"""`hopweave serve` and `hopweave worker`: what runs until it is told to stop."""

from typing import Annotated

import typer

from cli.console import say

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
    """Answer over HTTP, with a worker beside that indexes what is handed in."""
    from api.serving import serve as serve_http
    from core.settings import read_settings

    serve_http(read_settings(), host=host, port=port, processes=workers)


def worker() -> None:
    """Index what is queued, until interrupted. Serve and ingest do so by themselves; this is a worker alone."""
    import signal
    import threading

    from app.folder_lock import holder, is_held
    from app.supervision import Supervision
    from core.errors import FolderHeld
    from core.settings import read_settings

    settings = read_settings()
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
