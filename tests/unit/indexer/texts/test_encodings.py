"""Texts in encodings other than UTF-8, and content that is no text."""

from dataclasses import replace

import pytest

from core.documents import LOADER_NOTES
from core.errors import LoadFailed
from indexer.submission.decoding import decode_source, decode_text
from testing.contracts.loader import source_of

GERMAN = "Über den Fluß führt eine alte Brücke, die im Jahre 1780 gebaut wurde. Die Bürger gehen täglich darüber."
FRENCH = "L'été dernier, les élèves ont visité le château près de la forêt. C'était très agréable."
POLISH = "Zażółć gęślą jaźń. W Szczebrzeszynie chrząszcz brzmi w trzcinie i Szczebrzeszyn z tego słynie."
RUSSIAN = "Москва является столицей Российской Федерации, городом федерального значения и центром области."
JAPANESE = "東京は日本の首都であり、人口は約千四百万人です。昨日、私は友達と一緒に新しい美術館へ行きました。"
CHINESE = "北京是中华人民共和国的首都，人口超过两千万。昨天我和朋友一起去了新的博物馆。"
KOREAN = "서울은 대한민국의 수도이며 인구는 약 천만 명입니다. 어제 친구와 함께 새 박물관에 갔습니다."
GREEK = "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και έχει πληθυσμό περίπου τρία εκατομμύρια κατοίκους."

WRITTEN = [
    (GERMAN, "latin-1", "Windows-1252"),
    (FRENCH, "cp1252", "Windows-1252"),
    (POLISH, "cp1250", "Windows-1250"),
    (RUSSIAN, "cp1251", "Windows-1251"),
    (RUSSIAN, "koi8-r", "KOI8-R"),
    (JAPANESE, "shift-jis", "Shift-JIS"),
    (JAPANESE, "euc-jp", "EUC-JP"),
    (JAPANESE, "iso2022-jp", "ISO-2022-JP"),
    (CHINESE, "gb18030", "GB18030"),
    (KOREAN, "euc-kr", "EUC-KR"),
    (GREEK, "cp1253", "Windows-1253"),
    (GERMAN, "utf-16-le", "UTF-16-LE"),
    (RUSSIAN, "utf-16-be", "UTF-16-BE"),
    (CHINESE + "\n" + CHINESE, "utf-16-be", "UTF-16-BE"),
]


@pytest.mark.parametrize(("text", "encoding", "name"), WRITTEN)
@pytest.mark.parametrize("repeated", [1, 40])
def test_an_encoding_is_found_out_with_a_note(text: str, encoding: str, name: str, repeated: int) -> None:
    text = "\r\n".join([text] * repeated)
    decoded = decode_text(text.encode(encoding), "a.txt")
    assert decoded.text == text
    assert decoded.metadata == {LOADER_NOTES: [f"read as {name}, which is a guess: the file is not UTF-8"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_what_is_certain_has_no_note(encoding: str) -> None:
    decoded = decode_text(RUSSIAN.encode(encoding), "a.txt")
    assert (decoded.text, decoded.notes) == (RUSSIAN, ())


def test_one_letter_in_a_long_ascii_text_decides() -> None:
    text = "Plain English text, line by line.\n" * 5000 + "A café.\n" + "More of it.\n" * 5000
    assert decode_text(text.encode("latin-1"), "a.txt").text == text


def test_the_media_type_states_the_encoding() -> None:
    source = replace(source_of(RUSSIAN.encode("cp1251")), media_type='text/plain; charset="windows-1251"')
    stated = decode_source(source)
    assert (stated.text, stated.notes) == (RUSSIAN, ())


def test_a_wrong_statement_is_passed_over_and_on_utf8_noted() -> None:
    decoded = decode_text("Straße".encode(), "a.txt", "shift-jis")
    assert decoded.text == "Straße"
    assert decoded.notes == ("read as UTF-8: it is declared to be shift-jis, but is not",)
    for name in ("nonsense", "hex", "idna", "unicode_escape", "undefined", "utf-7", "a\0b"):
        assert decode_text(b"a\\x62c", "a.txt", name).text == "a\\x62c", "as if none was stated"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "is a PDF file, not text; name it by that format's suffix"),
        (b"PK\x03\x04\x14\0\x06\0", "is a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a PNG image"),
        (bytes(range(256)), "is not text"),
        (b"\x01\x02\xfe\xff\x9c\x00\x05", "is not text"),
        (b"\xff\x81\x03\x9d" * 50, "no other encoding fits"),
        (b"\0\1\0\1\0\1\0\xd8", "is not UTF-16-LE text: byte 0x00 at offset 6"),
        ("Привет, мир! ".encode("utf-16-be") * 5000 + b"\xd8\0", "is not UTF-16-BE text"),
        ("Привет".encode() + b"\xff" + "мир".encode(), "is not UTF-8 text: byte 0xff at offset 12"),
        ("Привет, мир".encode()[:-1], "cannot be decoded; save the file as UTF-8"),
    ],
)
def test_what_is_no_text_is_refused_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(LoadFailed, match=reason):
        decode_text(content, "a.txt")


def test_a_broken_byte_late_in_a_long_text_is_no_other_encoding() -> None:
    content = (RUSSIAN + "\n").encode() * 20_000 + b"\xff" + b"plain\n" * 500_000
    with pytest.raises(LoadFailed, match="not UTF-8 text: byte 0xff"):
        decode_text(content, "a.txt")
