"""Mails: their headers, bodies and attachments, and the mails of a mailbox (mbox)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime

from core.errors import LoadFailed
from core.passage_context import name_sender
from core.text.titles import one_line
from indexer.loading.assembly import TextBuilder, clean_text
from indexer.loading.attachments import AttachedFile
from indexer.loading.texts.html_text import HtmlPage, declared_encoding
from indexer.submission.decoding import decode_text

_FROM_LINE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d{1,2}:\d{2}[^\r\n]*(?:\r?\n|\Z)")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_FOLD = re.compile(r"(?<![\r\n])[\r\n]++(?=[ \t])")
_KNOWN = ("from", "to", "subject", "date", "message-id", "received", "return-path", "delivered-to", "mime-version")
_DELIVERY, _MAIL = "message/delivery-status", "message/rfc822"
_TEXTS = ("text/plain", "text/html", "text/rfc822-headers", _DELIVERY)
"""The types that are read. A mail that could not be delivered comes back with the reason in fields."""
_SHOWN = ("From", "To", "Cc", "Date")


_LONGEST_HEADER = 100_000
_LONGEST_FIELD = 8_000
"""Characters of a header, and of a header with parameters, whose parsing takes time by the square of their number."""


class _BoundedHeaders(Compat32):
    """Cuts headers that are too long, and reads headers that are not encoded."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        longest = _LONGEST_FIELD if name.lower().startswith("content-") else _LONGEST_HEADER
        return name, value[:longest]

    def header_fetch_parse(self, name: str, value: str) -> str:  # noqa: ARG002 - the policy has it
        """Decodes bytes that are no ASCII, for which the parser has surrogates: some programs write UTF-8 there."""
        if value.isascii():
            return value
        raw = value.encode("utf-8", "surrogateescape")
        try:
            return decode_text(raw, "a header", "").text
        except LoadFailed:
            return raw.decode("latin-1")


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A mail. `to` and `cc` are addresses with their names, `date` is as in ISO 8601, in the zone of the sender.

    What a mail does not state is ''. `files` are its attachments; `notes` tell what could not be read. `in_mailbox`
    tells that the file has other mails beside it.
    """

    sender: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    date: str
    subject: str
    body: str
    files: tuple[AttachedFile, ...]
    notes: tuple[str, ...]
    in_mailbox: bool = False

    @property
    def attachments(self) -> tuple[str, ...]:
        """The names and types of its attachments."""
        return tuple(file.shown for file in self.files)

    @property
    def metadata(self) -> dict[str, object]:
        """What the mail states, as metadata of its document."""
        found = {
            "from": self.sender,
            "to": list(self.to),
            "cc": list(self.cc),
            "date": self.date,
            "subject": self.subject,
            "attachments": list(self.attachments),
        }
        return {name: value for name, value in found.items() if value}

    @property
    def origin(self) -> str:
        """The name of the sender and the day, as far as they are known, such as `Ada, 2024-04-01`."""
        return ", ".join(part for part in (name_sender(self.sender), self.date[: len("2024-04-01")]) if part)

    def text(self, *, attachments: bool) -> str:
        """Returns sender, receivers and date, the body, and the names of attachments if wanted."""
        stated = zip(_SHOWN, (self.sender, ", ".join(self.to), ", ".join(self.cc), self.date), strict=True)
        head = "\n".join(f"{name}: {value}" for name, value in stated if value)
        parts = [head, self.body.strip(), *(f"Attachment: {name}" for name in self.attachments if attachments)]
        return "\n\n".join(part for part in parts if part)


def is_mailbox(content: bytes) -> bool:
    """Whether the content is a mailbox: it begins with the line that separates mails."""
    return _FROM_LINE.match(content) is not None


def split_mailbox(content: bytes) -> Iterator[bytes]:
    """Yields the mails of a mailbox."""
    starts = [found.span() for found in _FROM_LINE.finditer(content)]
    for (_, begin), end in zip(starts, [*(start for start, _ in starts[1:]), len(content)], strict=True):
        yield _QUOTED_FROM.sub(rb"\1", content[begin:end])


def read_mail(content: bytes, key: str, *, in_mailbox: bool = False) -> Mail:
    """Raises `LoadFailed` if the content is nested too deeply, or, outside of a mailbox, has no headers of a mail."""
    try:
        message: Message = message_from_bytes(content.lstrip(), policy=_BoundedHeaders())
        files = tuple(_file(part) for part in _walk(message) if part is not message and _is_attachment(part))
    except RecursionError as error:
        raise LoadFailed(f"{key!r} is no usable mail: its parts are nested too deeply") from error
    if not in_mailbox and all(message.get(name) is None for name in _KNOWN):
        raise LoadFailed(f"{key!r} is no mail: it has no headers such as From, To, Date and Subject")
    notes: list[str] = []
    return Mail(
        sender=", ".join(_addresses(message, "from")),
        to=_addresses(message, "to"),
        cc=_addresses(message, "cc"),
        date=_date(message),
        subject=_header(message, "subject"),
        body=_body(message, key, notes),
        files=files,
        notes=tuple(dict.fromkeys(notes)),
        in_mailbox=in_mailbox,
    )


def _body(part: Message, key: str, notes: list[str]) -> str:
    """Returns the text of a part: of alternatives, the first plain text that is not blank, else the first text."""
    if _is_attachment(part):
        return ""
    if part.get_content_type() == _DELIVERY:
        return clean_text("\n\n".join(_fields(one) for one in part.get_payload() if isinstance(one, Message)))
    if part.is_multipart():
        children = [one for one in part.get_payload() if isinstance(one, Message)]
        bodies = [(one.get_content_type(), _body(one, key, notes)) for one in children]
        texts = [(kind, text) for kind, text in bodies if text.strip()]
        if part.get_content_subtype() == "alternative":
            plain = [text for kind, text in texts if kind == "text/plain"]
            return (plain or [text for _, text in texts] or [""])[0]
        return "\n\n".join(text.strip() for _, text in texts)
    return _text(part, key, notes)


def _text(part: Message, key: str, notes: list[str]) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    is_html = part.get_content_subtype() == "html"
    declared = str(part.get_param("charset") or "") or (declared_encoding(payload) if is_html else "")
    try:
        decoded = decode_text(payload, key, declared)
    except LoadFailed as error:
        notes.append(f"a part is left out: {error}")
        return ""
    notes += decoded.notes
    if not is_html:
        return clean_text(decoded.text)
    builder = TextBuilder()
    HtmlPage(decoded.text).add_text(builder, main=False)
    builder.end_page()
    return builder.pages[0]


def _fields(part: Message) -> str:
    return "\n".join(f"{name}: {_decoded(str(value))}" for name, value in part.items())


def _is_attachment(part: Message) -> bool:
    """Whether a part is named only: a file, a mail, or anything that is no text."""
    if part.get_content_maintype() == "multipart":
        return False
    named = part.get_content_disposition() == "attachment" or part.get_filename() is not None
    return named or part.get_content_type() not in _TEXTS


def _walk(part: Message) -> Iterator[Message]:
    """Yields a part and the parts in it, except the parts of an attached mail."""
    yield part
    if part.is_multipart() and part.get_content_type() not in (_MAIL, _DELIVERY):
        for child in part.get_payload():
            if isinstance(child, Message):
                yield from _walk(child)


def _file(part: Message) -> AttachedFile:
    kind, name = part.get_content_type(), _decoded(part.get_filename() or "")
    is_inline = part.get_content_maintype() == "image" and (
        part.get_content_disposition() == "inline" or part.get("content-id") is not None
    )
    inner = next((one for one in part.get_payload() if isinstance(one, Message)), None) if kind == _MAIL else None
    title = _header(inner, "subject") if inner is not None else ""
    return AttachedFile(name=name, media_type=kind, content=_content(part, inner), is_inline=is_inline, title=title)


def _content(part: Message, mail: Message | None) -> bytes | None:
    """Returns the bytes of a part, or the source of an attached mail; None if it cannot be read."""
    try:
        content = part.get_payload(decode=True) if mail is None else mail.as_bytes()
    except (ValueError, LookupError, TypeError, AttributeError):  # what the package makes of headers that are broken
        return None
    return content if isinstance(content, bytes) else None


def _addresses(message: Message, name: str) -> tuple[str, ...]:
    values = [_decoded(str(value)) for value in message.get_all(name, [])]
    return tuple(f"{shown} <{address}>" if shown else address for shown, address in getaddresses(values) if address)


def _date(message: Message) -> str:
    try:
        date = parsedate_to_datetime(str(message.get("date", "")))
    except (ValueError, TypeError, OverflowError):  # the header is missing, or is no date
        return ""
    text = date.isoformat(timespec="seconds")  # in another zone, it may be another day than the sender's
    return text.removesuffix("+00:00") + "Z" if not date.utcoffset() else text


def _header(message: Message, name: str) -> str:
    return _decoded(str(message.get(name, "")))


def _decoded(value: str) -> str:
    """Returns a header with its encoded words decoded. A header that cannot be decoded stays as it is written."""
    try:
        parts = decode_header(_FOLD.sub("", value))
    except (HeaderParseError, ValueError):
        return one_line(clean_text(value))
    return one_line(clean_text("".join(_decoded_word(word, charset) for word, charset in parts)))


def _decoded_word(word: str | bytes, charset: str | None) -> str:
    if isinstance(word, str):
        return word
    try:
        return decode_text(word, "a header", charset or "").text
    except LoadFailed:
        return word.decode("ascii", "backslashreplace")
