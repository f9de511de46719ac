"""Mailboxes (mbox): attachments of their mails as documents of their own, and mailboxes that are large or broken."""

import asyncio
import io
import re
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from core.documents import LOADER_NOTES, Submission
from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Source
from indexer.selection.attachments import AttachmentReader
from indexer.selection.loaders import Loaders
from indexer.submission.json_lines import Rejection

_MBOX = "application/mbox"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_DATE = "Mon, 01 Apr 2024 10:00:00 +0000"


def make_mail(*files: tuple[str, str, bytes], subject: str = "Offer", body: str = "See the files.") -> bytes:
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Date"] = "Ada <ada@example.org>", subject, _DATE
    mail.set_content(body)
    for name, kind, content in files:
        mail.add_attachment(content, *kind.split("/"), filename=name)
    return mail.as_bytes()


def make_mailbox(*mails: bytes) -> bytes:
    """Writes mails as programs do: a line `From ` before each, and a `>` before lines that begin so."""
    return b"".join(
        b"From ada@example.org Mon Apr  1 10:00:00 2024\n" + re.sub(rb"(?m)^(>*From )", rb">\1", mail) + b"\n"
        for mail in mails
    )


@pytest.fixture(scope="module")
def loaders() -> Iterator[Loaders]:
    loaders = Loaders()
    yield loaders
    asyncio.run(loaders.close())


def load(loaders: Loaders, content: bytes, key: str = "in.mbox", media_type: str = _MBOX) -> LoadedDocument:
    return loaders.load(Source(key=key, content=content, media_type=media_type, title=None, metadata={}))


def read(loaders: Loaders, content: bytes) -> list[Submission]:
    """Returns the attachments that are submitted with a mailbox."""
    mailbox = Submission(key="in.mbox", content=content, media_type=_MBOX, metadata={"case": 7})
    found = list(AttachmentReader(loaders).read([mailbox]))[1:]
    assert not [one for one in found if isinstance(one, Rejection)]
    return [one for one in found if isinstance(one, Submission)]


def names_of(loaders: Loaders, content: bytes) -> list[str]:
    return [one.key.removeprefix("in.mbox/attachments/") for one in read(loaders, content)]


# --- attachments -----------------------------------------------------------------------------------------------------


def test_attachments_of_a_mailbox_are_documents_that_name_their_mail(loaders: Loaders) -> None:
    mail = message_from_bytes(make_mail(subject="Plans: a/b"), policy=default)
    assert isinstance(mail, EmailMessage)
    mail.add_attachment(b"From here on\n>From there\n", "text", "plain", filename="plan.txt", cte="7bit")
    inner = message_from_bytes(make_mail(("deep.txt", "text/plain", b"deep"), subject="Inner"), policy=default)
    mail.add_attachment(inner)
    found = read(loaders, make_mailbox(make_mail(body="nothing attached"), make_mail(), mail.as_bytes()))
    below = "in.mbox/attachments/2024-04-01 Plans: a_b/"
    assert [one.key for one in found] == [
        f"{below}plan.txt",
        f"{below}Inner.eml",
        f"{below}Inner.eml/attachments/deep.txt",
    ]
    plan = found[0]
    assert plan.content == b"From here on\n>From there\n", "what quotes the line between mails is taken away again"
    assert plan.title == "plan.txt (attached to: Plans: a/b)"
    assert plan.metadata == {
        "case": 7,
        "mail_subject": "Plans: a/b",
        "mail_from": "Ada <ada@example.org>",
        "mail_date": "2024-04-01T10:00:00Z",
        "attachment_of": "in.mbox",
    }


def test_keys_of_attachments_stay_when_mails_come_and_go(loaders: Loaders) -> None:
    first, second, third = (make_mail(("a.txt", "text/plain", b"x"), subject=name) for name in ("One", "Two", "Three"))
    two = "2024-04-01 Two/a.txt"
    assert names_of(loaders, make_mailbox(first, second)) == ["2024-04-01 One/a.txt", two]
    assert names_of(loaders, make_mailbox(second, third)) == [two, "2024-04-01 Three/a.txt"]
    bare = second.replace(_DATE.encode(), b"").replace(b"Two", b"")
    assert names_of(loaders, make_mailbox(second, second, bare)) == [two, "2024-04-01 Two/a (2).txt", "mail/a.txt"]


def test_attachments_that_are_no_documents_are_named_once_for_each_reason(loaders: Loaders) -> None:
    pictures = [make_mail((f"{n}.jpg", "image/jpeg", b"\xff")) for n in range(30)]
    document = load(loaders, make_mailbox(*pictures, make_mail(("empty.txt", "text/plain", b""))))
    first, second = document.metadata[LOADER_NOTES]
    assert "0.jpg (image/jpeg)" in first
    assert "and 20 more: no loader reads .jpg files" in first
    assert second.endswith("attachment empty.txt (text/plain): it has no bytes that can be read")


def test_attachments_of_mails_in_a_mail_are_bounded_together(loaders: Loaders) -> None:
    files = [(f"{n}.txt", "text/plain", b"x") for n in range(190)]
    mail = message_from_bytes(make_mail(subject="Outer"), policy=default)
    assert isinstance(mail, EmailMessage)
    for n in range(5):
        mail.add_attachment(message_from_bytes(make_mail(*files, subject=f"Inner {n}"), policy=default))
    outer = Submission(key="m.eml", content=mail.as_bytes(), media_type="message/rfc822", metadata={})
    _, rejected, *attached = AttachmentReader(loaders).read([outer])
    assert isinstance(rejected, Rejection)
    assert rejected.reason == "it has more than 900 attachments, with the mails in it; the others are left out"
    assert len(attached) == 900
    in_mailbox = read(loaders, make_mailbox(outer.content))
    assert len(in_mailbox) == 5 * 191, "a mailbox may have more"


# --- broken and large mailboxes --------------------------------------------------------------------------------------


def test_a_mailbox_without_a_line_between_mails_is_one_mail_or_none(loaders: Loaders) -> None:
    mail = make_mail(("a.txt", "text/plain", b"x"))
    assert load(loaders, mail).title == "Offer"
    assert names_of(loaders, mail) == ["a.txt"]
    with pytest.raises(LoadFailed, match=r"'in.mbox' is no mail: it has no headers such as From, To, Date and Subject"):
        load(loaders, b"From here to there\n\nThere is no mail.\n")


def test_lines_that_begin_with_from_do_not_end_a_mail(loaders: Loaders) -> None:
    text = "From there it goes on.\n\nFrom: Bo, 10:30\n\nFrom Ada at 10:30 a letter came.\n\n>From a quote"
    document = load(loaders, make_mailbox(make_mail(body=text), make_mail(subject="Second")))
    assert document.metadata["mails"] == 2
    assert text in document.pages[0]


def test_a_mailbox_that_is_cut_off_or_damaged_keeps_what_can_be_read(loaders: Loaders) -> None:
    whole = make_mailbox(make_mail(("a.txt", "text/plain", b"x")), make_mail(("b.txt", "text/plain", b"y " * 9000)))
    cut = whole[: len(whole) - 3000]
    assert names_of(loaders, cut) == ["2024-04-01 Offer/a.txt", "2024-04-01 Offer/b.txt"]
    assert load(loaders, cut).metadata["mails"] == 2
    noise = b"From x Mon Apr  1 10:00:00 2024\nContent-Type: multipart/mixed; boundary=\xff\x00\n\n--\xff\x00\n\x00\xfe"
    assert names_of(loaders, whole + noise) == names_of(loaders, whole)
    assert load(loaders, whole + noise).metadata["mails"] == 3
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5000))
    deep = make_mailbox(make_mail(), b"Subject: deep\n" + nested)
    with pytest.raises(LoadFailed, match=r"'in.mbox' is no usable mail: its parts are nested too deeply"):
        load(loaders, deep)
    assert read(loaders, deep) == [], "its own document fails with the reason"


def test_a_mailbox_of_ten_thousand_mails(loaders: Loaders) -> None:
    plain = b"From: Ada <ada@example.org>\nSubject: Number %d\n\nText %d.\n"
    mails = [plain % (n, n) for n in range(9_990)]
    mails += [make_mail(("a.txt", "text/plain", b"x"), subject=f"Number {n}") for n in range(9_990, 10_000)]
    content = make_mailbox(*mails)
    document = load(loaders, content)
    assert document.metadata == {"mails": 10_000}
    assert [block.heading[-1] for block in document.blocks] == [f"Number {n}" for n in range(10_000)]
    assert names_of(loaders, content) == [f"2024-04-01 Number {n}/a.txt" for n in range(9_990, 10_000)]


def test_a_mail_of_twenty_megabytes_in_a_mailbox(loaders: Loaders) -> None:
    large = make_mail(("a.txt", "text/plain", b"word " * 10_000), body="word " * 4_000_000)
    content = make_mailbox(make_mail(), large, make_mail(subject="After"))
    document = load(loaders, content)
    assert document.metadata["mails"] == 3
    assert document.pages[0].count("word") == 4_000_000
    assert document.blocks[-1].heading[-1] == "After"
    [attached] = read(loaders, content)
    assert attached.content == b"word " * 10_000


def test_a_bomb_in_a_mailbox_fails_alone(loaders: Loaders) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(600 * 1024 * 1024))
    bomb = ("bomb.docx", _WORD, packed.getvalue())
    content = make_mailbox(make_mail(bomb, ("bomb.zip", "application/zip", packed.getvalue())), make_mail())
    assert load(loaders, content).metadata["mails"] == 2
    assert "bomb.zip (application/zip): no loader reads .zip files" in load(loaders, content).metadata[LOADER_NOTES][0]
    [attached] = read(loaders, content)
    with pytest.raises(LoadFailed, match=rf"'{attached.key}' .* unpacked"):
        load(loaders, attached.content, attached.key, attached.media_type)
