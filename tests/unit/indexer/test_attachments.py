"""Mails of Outlook, attachments as documents of their own, and formats by content."""

import io
from dataclasses import replace
from email.message import EmailMessage

import pytest

from core.documents import LOADER_NOTES, Submission
from core.errors import LoadFailed, UnsupportedMedia
from core.ports.indexing import LoadedDocument
from indexer.isolation.frames import decode_files, encode_files
from indexer.loaders import doc as doc_loader
from indexer.loaders import docx, eml, epub, msg, ods, pdf, pptx, rtf, xls, xlsx
from indexer.loading.attachments import AttachedFile, FoundFiles, name_file
from indexer.loading.examples import make_msg
from indexer.loading.texts.mails import Mail
from indexer.selection.attachments import MAX_FILES, MAX_OF_MAILBOX, AttachmentChoice, find_documents, make_submissions
from indexer.selection.loaders import media_type_of_content, recognise_format
from testing.contracts.loader import source_of

HTML = "<html><body><p>Gr\u00fc\u00dfe</p></body></html>"


def load(content: bytes) -> LoadedDocument:
    return msg.build(msg.Config(), None).load(source_of(content, key="a/mail.msg"))


def make_mail(*files: tuple[str, str, bytes], subject: str = "Offer") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ada <ada@example.org>", "bob@example.org", subject
    mail.set_content("See the files.")
    for name, kind, content in files:
        mail.add_attachment(content, *kind.split("/"), filename=name)
    return mail


# --- MSG -------------------------------------------------------------------------------------------------------------


def test_a_mail_of_outlook() -> None:
    content = make_msg(
        {0x0037: "K\u00f6ln", 0x0C1A: "Ada", 0x5D01: "ada@example.org", 0x1000: "Hello.\r\nBye."},
        {"plan.txt": b"x", "photo.xyz": b"\0"},
    )
    found = load(content)
    assert found.title == "K\u00f6ln"
    assert found.metadata["from"] == "Ada <ada@example.org>"
    assert found.pages[0].startswith("From: Ada <ada@example.org>\n\nHello.\nBye.\n\nAttachment: plan.txt")
    [note] = found.metadata[LOADER_NOTES]
    assert note.startswith("no document of its own: attachment photo.xyz")
    assert "holds a zero byte" in note


@pytest.mark.parametrize(
    "body",
    [{0x1013: HTML.encode()}, {0x1013: HTML}, {0x1009: b"\0" * 8 + b"MELA" + b"\0" * 4 + rb"{\rtf1 Gr\'fc\'dfe}"}],
)
def test_bodies_in_html_and_rtf(body: dict[int, str | bytes | int]) -> None:
    assert "Gr\u00fc\u00dfe" in load(make_msg({0x0037: "s", **body})).pages[0]


def test_a_compressed_body_is_unpacked() -> None:
    """The example of [MS-OXRTFCP], 3.1."""
    header = "2d0000002b0000004c5a4675f1c5c7a703000a00"
    body = "7263706731323542320af82068656c090020627705b06c647d0a800fa0"
    assert "hello world" in load(make_msg({0x0037: "s", 0x1009: bytes.fromhex(header + body)})).pages[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"x", "is no MSG file"),
        (doc_loader.EXAMPLE, "no properties of a mail"),
        (msg.EXAMPLE[:600], "damaged"),
    ],
)
def test_what_is_no_mail_of_outlook_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(LoadFailed, match=f"'a/mail.msg' .*{reason}"):
        load(content)


def choose(
    key: str, *mails: list[AttachedFile], in_mailbox: bool = False
) -> tuple[list[tuple[AttachedFile, ...]], tuple[str, ...]]:
    """Returns the files of each mail that are documents, and the notes on the others."""
    choice = AttachmentChoice(key)
    empty = Mail(sender="", to=(), cc=(), date="", subject="", body="", files=(), notes=(), in_mailbox=in_mailbox)
    return [choice.choose(replace(empty, files=tuple(files))).files for files in mails], choice.notes


# --- which attachments are documents ---------------------------------------------------------------------------------


def test_attachments_of_a_mail_and_their_names() -> None:
    inner = make_mail(("deep.txt", "text/plain", b"deep"), subject="Inner: a/b")
    mail = make_mail(
        ("a.txt", "text/plain", b"1"), ("a.txt", "text/plain", b"2"), ("../x/evil.md", "text/markdown", b"3"),
        ("photo.jpg", "image/jpeg", b"\xff"), ("GPL-2.0", "application/octet-stream", b"free"),
        ("", "application/pdf", pdf.EXAMPLE),
        ("sig.asc", "application/pgp-signature", b"s"), ("empty.txt", "text/plain", b""),
    )  # fmt: skip
    mail.add_attachment(inner)
    [found] = find_documents(eml, mail.as_bytes(), "m.eml")
    assert [(one.name, one.media_type) for one in found.files] == [
        *(("a.txt", "text/plain"), ("a (2).txt", "text/plain"), ("_x_evil.md", "text/markdown")),
        *(("GPL-2.0", "text/plain"), ("attachment 6.pdf", "application/pdf"), ("Inner: a_b.eml", "message/rfc822")),
    ]
    [below] = find_documents(eml, found.files[-1].content or b"", "x")
    assert below.files[0].content == b"deep"
    document = eml.build(eml.Config(), None).load(source_of(mail.as_bytes(), key="m.eml"))
    notes = "\n".join(document.metadata[LOADER_NOTES])
    assert "photo.jpg (image/jpeg): no loader reads .jpg files" in notes
    assert "empty.txt (text/plain): it has no bytes" in notes
    assert "sig.asc" not in notes
    assert "deep.txt" not in document.pages[0], "the attached mail names its own"


def test_bounds_of_attachments() -> None:
    files = [AttachedFile(name=f"{n}.txt", media_type="text/plain", content=b"x") for n in range(MAX_FILES + 1)]
    [chosen], notes = choose("m.eml", files)
    assert len(chosen) == MAX_FILES
    assert f"at most {MAX_FILES} attachments" in notes[0]
    for key in ("m.eml" + "/attachments/m.eml" * 5, "k" * 1020):
        chosen, notes = choose(key, files[:1])
        assert (chosen, len(notes)) == ([()], 1)
    chosen, notes = choose("m.mbox", *[files[:MAX_FILES]] * (MAX_OF_MAILBOX // MAX_FILES), files[:2], in_mailbox=True)
    assert [len(one) for one in chosen] == [*[MAX_FILES] * (MAX_OF_MAILBOX // MAX_FILES), 0]
    reason = "a mailbox has at most 5,000 attachments as documents"
    assert notes == (f"no document of its own: attachment 0.txt (text/plain), 1.txt (text/plain): {reason}",)
    assert len({file.name for one in chosen for file in one}) == MAX_OF_MAILBOX, "names of one folder differ"


def test_submissions_of_attachments_name_their_mail() -> None:
    mail = Submission(key="m.eml", content=b"", media_type="message/rfc822", metadata={"case": 7})
    file = AttachedFile(name="a.txt", media_type="text/plain", content=b"1")
    [one] = make_submissions(mail, [FoundFiles(subject="Offer", sender="Ada", files=(file,))])
    assert (one.key, one.title) == ("m.eml/attachments/a.txt", "a.txt (attached to: Offer)")
    assert one.metadata == {"case": 7, "mail_subject": "Offer", "mail_from": "Ada", "attachment_of": "m.eml"}


def test_files_travel_from_the_parser_process_and_are_checked() -> None:
    file = AttachedFile(name="\u00e4.txt", media_type="text/plain", content=b"\0\1", title="t")
    found = FoundFiles(subject="s", files=(file, file)), FoundFiles(folder="f", date="d", files=(file,))
    written = encode_files(found)
    assert decode_files(written) == found
    for wrong in (b"", written[:-1], written + b"x", written.replace(b'"size": 2', b'"size":-2'), b"\0" * 8 + b"[]"):
        with pytest.raises(ValueError, match=r"reply|sizes"):
            decode_files(wrong)


@pytest.mark.parametrize(("name", "expected"), [("a/b\\c.txt", "a_b_c.txt"), ("..", ""), ("\u202egnp.txt", "_gnp.txt")])
def test_names_become_parts_of_keys(name: str, expected: str) -> None:
    assert name_file(name) == expected
    assert len(name_file("n" * 500 + ".docx")) <= 150
    assert name_file("n" * 500 + ".docx").endswith(".docx")


# --- formats by content ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        *((module.EXAMPLE, module.SUFFIXES[0]) for module in (docx, epub, ods, pdf, pptx, rtf, xls, xlsx, msg, eml)),
        (doc_loader.EXAMPLE, ".doc"),
        (b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.text", ".odt"),
        (b"\n<!DOCTYPE html><html></html>", ".html"),
        (b"From ada Mon Apr  1 10:00:00 2024\nSubject: s\n\nx", ".eml"),
        (b"Note: one\nFrom: two\n", ""),
        (b"PK\x03\x04 other", ""),
        (b"plain", ""),
    ],
)
def test_formats_by_content(content: bytes, suffix: str) -> None:
    assert recognise_format(io.BytesIO(content)) == suffix


def test_a_suffix_that_tells_no_format_leaves_it_to_the_content() -> None:
    assert media_type_of_content("notes.v2", b"text") == "text/plain"
    assert media_type_of_content("letter.2024", doc_loader.EXAMPLE) == "application/msword"
    assert media_type_of_content("a.txt", pdf.EXAMPLE) == "text/plain", "its loader says what is wrong"
    with pytest.raises(UnsupportedMedia, match=r"no loader reads \.png files"):
        media_type_of_content("a.png", b"text")
    with pytest.raises(UnsupportedMedia, match=r"no loader reads \.odp files, and this one is a ZIP .*; save it in"):
        media_type_of_content("a.odp", ods.EXAMPLE.replace(b"opendocument", b"open-charter"))
    with pytest.raises(UnsupportedMedia, match="this one holds a zero byte"):
        media_type_of_content("core.4711", b"a\0")


def test_headers_of_outlook_in_other_letters_are_read() -> None:
    headers = "From: Jürgen Müller <j@x.de>\r\nTo: Łukasz <l@x.pl>\r\nDate: Mon, 1 Jan 2024 10:00:00 +0100\r\n\r\n"
    page = "\n".join(load(make_msg({0x0037: "s", 0x1000: "b", 0x007D: headers})).pages)
    assert "Jürgen Müller <j@x.de>" in page
    assert "Łukasz <l@x.pl>" in page


@pytest.mark.parametrize(
    ("number", "name", "text"),
    [
        (28592, "iso8859_2", "Zażółć gęślą jaźń"),
        (28605, "iso8859_15", "10 € café"),
        (51932, "euc_jp", "日本語のテキスト"),
        (1251, "cp1251", "Привет"),
    ],
)
def test_code_pages_of_outlook(number: int, name: str, text: str) -> None:
    content = make_msg({0x0037: "s", 0x3FDE: number, 0x1013: f"<p>{text}</p>".encode(name)})
    assert text in load(content).pages[0]


def test_tables_of_a_body_in_rtf_are_rows() -> None:
    table = rb"{\rtf1\trowd\intbl Name\cell Rate\cell\row\trowd\intbl Bo\cell 1\cell\row\pard end{\footnote fn}\par}"
    page = load(make_msg({0x0037: "s", 0x1009: bytes(8) + b"MELA" + bytes(4) + table})).pages[0]
    assert "Name | Rate\nBo | 1\n\nend\n\nfn" in page
