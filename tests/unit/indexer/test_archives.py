"""Archives that are damaged, of another kind, or made to harm: each loader of archives refuses them with the reason."""

from typing import Any

import pytest

from core.errors import LoadFailed
from indexer.loaders import docx, epub, ods, pptx, xlsx
from testing.contracts.loader import source_of
from tests.documents import pack, replace_member

OFFICE = {"docx": docx, "pptx": pptx, "xlsx": xlsx, "epub": epub, "ods": ods}
MAIN = {
    "docx": "word/document.xml",
    "pptx": "ppt/slides/slide1.xml",
    "xlsx": "xl/worksheets/sheet1.xml",
    "epub": "c1.xhtml",
    "ods": "content.xml",
}


def load(module: Any, content: bytes) -> None:
    module.build(module.Config(), None).load(source_of(content, key="a/the file.ext"))


@pytest.mark.parametrize("kind", OFFICE)
def test_entities_are_refused(kind: str) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    xml = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{laughs}]><x>&l9;</x>'
    for content in (xml.encode(), xml.encode("utf-16")):
        with pytest.raises(LoadFailed, match="defines a document type or entities"):
            load(OFFICE[kind], replace_member(OFFICE[kind].EXAMPLE, MAIN[kind], content))


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
def test_document_types_are_refused(kind: str) -> None:
    xml = '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><x/>'
    with pytest.raises(LoadFailed, match="defines a document type"):
        load(OFFICE[kind], replace_member(OFFICE[kind].EXAMPLE, MAIN[kind], xml))


@pytest.mark.parametrize("kind", OFFICE)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"plain text", "file is not a zip file; it may be damaged or cut off"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "encrypted with a password, or of a format before 2007"),
        (pack({"readme.txt": "x"}), "the archive has no '"),
    ],
)
def test_what_is_no_such_file_is_told_apart(kind: str, content: bytes, reason: str) -> None:
    with pytest.raises(LoadFailed, match=f"'a/the file.ext' is no {kind.upper()} file: .*{reason}"):
        load(OFFICE[kind], content)


@pytest.mark.parametrize("kind", OFFICE)
def test_a_bomb_is_refused_before_it_is_unpacked(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    main = MAIN[kind]
    bomb = replace_member(OFFICE[kind].EXAMPLE, main, b"\0" * 32 * 1024 * 1024)
    assert len(bomb) < 100_000
    with pytest.raises(LoadFailed, match=r"it grows [\d,]+ times when it is unpacked, more than 200 times"):
        load(OFFICE[kind], bomb)
    monkeypatch.setattr("indexer.loading.archives.MAX_UNPACKED", 16 * 1024 * 1024)
    with pytest.raises(LoadFailed, match="unpacked it has 32 MB, more than 16 MB"):
        load(OFFICE[kind], bomb)
    many = pack({f"{n}.xml": "" for n in range(10_001)})
    with pytest.raises(LoadFailed, match="its archive has 10,001 files, more than 10,000"):
        load(OFFICE[kind], many)


@pytest.mark.parametrize("kind", OFFICE)
def test_a_damaged_part_is_named(kind: str) -> None:
    broken = bytearray(OFFICE[kind].EXAMPLE)
    start = broken.index(MAIN[kind].encode()) + len(MAIN[kind])
    broken[start + 5 : start + 25] = b"\xff" * 20
    with pytest.raises(LoadFailed, match=f"is damaged: its part '{MAIN[kind]}' cannot be unpacked"):
        load(OFFICE[kind], bytes(broken))
