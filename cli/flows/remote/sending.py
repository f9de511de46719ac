"""Further ways to send files to a server, for `hopweave ingest --server`.

- A file that `hopweave export` wrote is imported.
- For `--dry-run`, files are read here, and a server estimates them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import hopweave
from app.archive import RestoreResult
from app.services.estimates import Estimate, ModelEstimate
from cli.flows.reading import GIVEN, PathsReading, Request, Server, check_paths
from cli.flows.remote.ingest import check_settings, to_file, translate_errors
from cli.output.console import print_json, print_status, show_restored
from core.errors import NotFound
from indexer import Rejection


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


def estimate_remote(request: Request, server: Server) -> Estimate:
    """Returns what the server estimates for a corpus that it has. Raises `NotFound` if it has none of this name."""
    check_paths(request)
    with translate_errors(), hopweave.connect(server.url, api_key=server.api_key) as client:
        corpus = _find_corpus(client, request.corpus)
        check_settings(corpus, request)
        rejected: list[Rejection] = []
        reading = PathsReading(request).read(with_given=GIVEN in corpus.extractor.split("+"))

        def files() -> Iterator[hopweave.NewFile]:
            for one in reading:
                if isinstance(one, Rejection):
                    rejected.append(one)
                else:
                    yield to_file(one)

        return _convert(client.estimate(request.corpus, documents=files()), rejected)


def _find_corpus(client: hopweave.Client, name: str) -> hopweave.Corpus:
    try:
        return client.get_corpus(name)
    except hopweave.NotFoundError as error:
        raise NotFound(
            f"the server has no corpus {name!r}, whose chunker and extractor an estimate needs; create it with "
            "POST /v1/corpora, or leave --server out to estimate with the settings of this machine"
        ) from error


def _convert(estimate: hopweave.Estimate, rejected: list[Rejection]) -> Estimate:
    model = estimate.model
    refused = [Rejection(source=one.source, reason=one.reason) for one in estimate.rejected]
    return Estimate(
        documents=estimate.documents,
        unchanged=estimate.unchanged,
        bytes=estimate.bytes,
        chunks=estimate.chunks,
        tokens=estimate.tokens,
        model=None
        if model is None
        else ModelEstimate(
            calls=model.calls,
            prompt_tokens=model.prompt_tokens,
            completion_tokens=model.completion_tokens,
            seconds=model.seconds,
            assumptions=tuple(model.assumptions),
        ),
        rejected=(*rejected, *refused),
        notes=tuple((one.key, one.note) for one in estimate.notes),
    )
