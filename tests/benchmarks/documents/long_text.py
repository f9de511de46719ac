"""The memory that a worker takes for one text of 100 MB."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from app.services import corpora
from evaluation import read_peak_memory_mb
from models.embedding.weights import BUILT_IN, resolve
from tests.benchmarks.check import Check, at_most, figure
from tests.benchmarks.documents.jobs import ingest, job_seconds, text_submission
from tests.benchmarks.documents.prose import make_sentences, make_text
from tests.benchmarks.workshop import workshop
from tests.servers.installation import configured

__all__ = ["checks", "measure"]

_MEGABYTES = 100
_SENTENCES_PER_MEGABYTE = 9_500


async def measure(megabytes: int = _MEGABYTES) -> dict[str, Any]:
    """A corpus with the settings of a new installation, but the first layer of the built-in model alone: embedding does
    the same work in the same memory, in a sixth of the time.
    """
    with tempfile.TemporaryDirectory() as folder, _first_layer(Path(folder) / "first-layer"):
        async with workshop() as shop:
            corpus = await corpora.create(shop.container, "long")
            text = _text(megabytes)
            job = await ingest(shop.container, corpus, [text_submission("long.txt", text)])
            [document] = (await shop.container.record.documents.list(corpus.id, limit=1)).data
            return {
                "megabytes": len(text) / 1e6,
                "chunks": document.chunks,
                "seconds": job_seconds(job),
                "peak_rss_mb": read_peak_memory_mb(shop.supervision.worker_pid()),
            }


def checks(report: dict[str, Any]) -> list[Check]:
    return [
        figure("a long text: MB", report["megabytes"]),
        figure("a long text: chunks", report["chunks"]),
        figure("a long text: s, with one of six layers of the model", report["seconds"]),
        at_most("a long text: the worker's peak memory, MB", report["peak_rss_mb"], 1500),
    ]


def _text(megabytes: int) -> str:
    return make_text(list(islice(make_sentences(100), megabytes * _SENTENCES_PER_MEGABYTE)))


@contextmanager
def _first_layer(folder: Path) -> Iterator[None]:
    """Saves the built-in model without its later layers, and sets the settings that choose it."""
    from safetensors.numpy import load_file, save_file

    built_in = resolve(BUILT_IN).folder
    if built_in is None:
        raise FileNotFoundError(f"the weights of {BUILT_IN} are not installed")
    shutil.copytree(built_in, folder, ignore=shutil.ignore_patterns("model.safetensors"))
    weights = load_file(built_in / "model.safetensors")
    kept = {name: value for name, value in weights.items() if ".layer." not in name or ".layer.0." in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 1}), encoding="utf-8")
    with configured({"HOPWEAVE_EMBEDDING__MODEL": str(folder)}):
        yield
