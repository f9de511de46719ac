"""What `hopweave verify` reads of a file of certificates."""

from pathlib import Path

import pytest

from cli.commands.operation import certificates
from core.errors import InvalidInput


def test_a_line_that_is_too_long_is_no_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "_LONGEST_LINE", 100)
    path = tmp_path / "certificates.jsonl"
    path.write_text(f"{'a' * 99}\n{'b' * 100}\n", encoding="utf-8")
    lines = certificates._read_file(path)
    assert next(lines) == "a" * 99 + "\n"
    with pytest.raises(InvalidInput, match="a line of more than 100 characters"):
        next(lines)


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "certificates.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"certificates\.jsonl cannot be read"):
        list(certificates._read_file(path))
