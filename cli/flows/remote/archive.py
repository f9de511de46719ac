"""Sends a file that `hopweave export` wrote to a server, for `hopweave ingest --server`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hopweave
from app.archive import RestoreResult
from cli.flows.reading import Server
from cli.flows.remote.ingest import translate_errors
from cli.output.console import print_json, print_status
from cli.output.files import show_restored

__all__ = ["import_remotely"]


def import_remotely(path: Path, corpus: str, requested: Mapping[str, Any], server: Server, *, as_json: bool) -> None:
    """Writes the documents of an exported corpus into a corpus of the server, which is created if it does not exist."""
    try:
        with translate_errors(), hopweave.connect(server.url, api_key=server.api_key) as client:
            done = client.import_corpus(corpus, path, **requested)
    except KeyboardInterrupt:
        print_status("interrupted; nothing is lost: run the same command again to continue")
        raise
    result = RestoreResult(
        name=done.corpus,
        documents=done.documents,
        unchanged=done.unchanged,
        chunks=done.chunks,
        embedded=done.embedded,
        missing_originals=done.missing_originals,
        notes=list(done.notes),
    )
    if as_json:
        print_json({"file": str(path), "corpus": result})
    else:
        show_restored(result)
