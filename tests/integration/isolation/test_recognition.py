"""Pages that are images: `tesseract` reads them, in the confinement of the parser process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from indexer.isolation.parser_process import IsolatedLoader, ParserProcess
from indexer.loaders import pdf
from testing.contracts.loader import source_of
from tests.documents import make_scan


@pytest.fixture
def process() -> Iterator[ParserProcess]:
    process = ParserProcess()
    yield process
    process.close()


def load(process: ParserProcess, **options: object) -> LoadedDocument:
    config = pdf.Config.model_validate(options)
    loader = IsolatedLoader(module=pdf.__name__, config=config, process=process)
    return loader.load(source_of(make_scan(), key="a/the file.pdf"))


def install_tesseract(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of this name in the place of the real one."""
    program = folder / "tesseract"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_images_are_read_where_tesseract_is_installed(
    process: ParserProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_tesseract(
        tmp_path, 'size=$(wc -c); echo "Read $*: $size bytes."; echo; echo "A new paragraph."', monkeypatch
    )
    document = load(process, ocr_languages="deu+eng", ocr_dpi=72)
    expected = 595 * 842
    first, _, last = document.pages[0].split("\n")
    words = first.split()
    assert words[:-2] == ["Read", "stdin", "stdout", "-l", "deu+eng", "--dpi", "72:"]
    assert abs(int(words[-2]) - expected) < 5000
    assert last == "A new paragraph."
    assert len(document.pages) == 2
    with pytest.raises(LoadFailed, match="needs OCR"):
        load(process, ocr="never")


def test_a_failure_of_tesseract_is_told(
    process: ParserProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_tesseract(tmp_path, "cat >/dev/null; echo 'no language xyz' >&2; exit 1", monkeypatch)
    with pytest.raises(LoadFailed, match=r"tesseract cannot read page 1 \(exit code 1\): no language xyz"):
        load(process)
    install_tesseract(tmp_path, "cat >/dev/null", monkeypatch)
    with pytest.raises(LoadFailed, match="tesseract finds none in its 2 pages of images"):
        load(process)
