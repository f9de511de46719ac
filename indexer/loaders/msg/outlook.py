"""A mail of Outlook (MSG): its properties, bodies, recipients and attachments.

Source: [MS-OXMSG] for the streams, [MS-OXPROPS] for the numbers of properties, [MS-OXRTFCP] for compressed RTF. Open
this module to see which property is read; `indexer.loaders.msg` makes a document of it.
"""

import re
import struct
from datetime import UTC, datetime, timedelta
from email.header import Header
from email.message import Message
from email.mime.application import MIMEApplication
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import BytesParser

from core.errors import LoadFailed
from core.text.titles import one_line
from indexer.loaders.rtf.reader import is_rtf, read_rtf
from indexer.loading.assembly import TextBuilder, clean_text
from indexer.loading.attachments import AttachedFile
from indexer.loading.compound import CompoundFile
from indexer.loading.paragraphs import add_paragraphs
from indexer.loading.texts.html_text import HtmlPage, declared_encoding
from indexer.loading.texts.mails import Mail, read_mail
from indexer.submission.decoding import decode_text

_SUBJECT, _SENDER, _SENDER_ADDRESS, _SENDER_SMTP = 0x0037, 0x0C1A, 0x0C1F, 0x5D01
_REPRESENTED, _REPRESENTED_ADDRESS = 0x0042, 0x0065
_HEADERS, _SENT, _RECEIVED = 0x007D, 0x0039, 0x0E06
_BODY, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_NAME, _ADDRESS, _SMTP, _RECIPIENT_TYPE = 0x3001, 0x3003, 0x39FE, 0x0C15
_LONG_FILE_NAME, _FILE_NAME, _DATA, _MIME, _CONTENT_ID = 0x3707, 0x3704, 0x3701, 0x370E, 0x3712
_FLAGS, _HIDDEN, _METHOD = 0x3714, 0x7FFE, 0x3705
_INTERNET_CODE_PAGE, _CODE_PAGE = 0x3FDE, 0x3FFD
_SHOWN_IN_BODY = 4  # of the flags of an attachment
_OLE = 6  # of the methods of an attachment
_PROPERTIES = "__properties_version1.0"
_MAIL, _SIGNED = "message/rfc822", "multipart/signed"
_DEEPEST = 5
_MOST_RECIPIENTS, _MOST_FILES = 5000, 1000
_MOST_UNPACKED = 64 * 1024 * 1024
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_CODE_PAGES = {
    20127: "ascii", 20866: "koi8-r", 20932: "euc_jp", 20936: "gb2312", 20949: "euc_kr", 21866: "koi8-u",
    50220: "iso2022_jp", 50221: "iso2022_jp", 50222: "iso2022_jp", 50225: "iso2022_kr", 51932: "euc_jp",
    51936: "gb2312", 51949: "euc_kr", 52936: "hz", 54936: "gb18030", 65000: "utf-7", 65001: "utf-8",
}  # fmt: skip
"""Code pages that Python has under another name than `cp` and the number."""
_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def read_outlook(content: bytes, key: str) -> Mail:
    """Raises `LoadFailed` for a file that is damaged, or no mail of Outlook."""
    file = CompoundFile(content, key, "MSG")
    if not file.has(_PROPERTIES):
        raise LoadFailed(f"{key!r} is no MSG file: it has no properties of a mail")
    return _read(file, (), key, 0)


def _read(file: CompoundFile, folder: tuple[str, ...], key: str, depth: int) -> Mail:
    """Reads the mail in a storage of the file: the mail itself, or an attached mail."""
    mail = _Storage(file, folder, 32 if not folder else 24)
    notes: list[str] = []
    headers = mail.text(_HEADERS).encode("utf-8", "replace")
    has_headers = bool(BytesParser().parsebytes(headers, headersonly=True).keys())
    stated = read_mail(headers, key, in_mailbox=True) if has_headers else None
    receivers = {1: list[str](), 2: list[str]()}
    for name in file.folders("__recip_version1.0_", folder)[:_MOST_RECIPIENTS]:
        one = _Storage(file, (*folder, name), 8, mail.code_page)
        receivers.setdefault(one.number(_RECIPIENT_TYPE) & 0x0F, []).append(
            _address(one.text(_NAME), one.text(_SMTP) or one.text(_ADDRESS))
        )
    names = file.folders("__attach_version1.0_", folder)
    if len(names) > _MOST_FILES:
        notes.append(f"only the first {_MOST_FILES:,} of {len(names):,} attachments are read")
    body = _read_body(mail, key, notes)
    files = tuple(_read_file(file, (*folder, name), key, mail.code_page, depth) for name in names[:_MOST_FILES])
    if len(files) == 1 and files[0].media_type == _SIGNED and files[0].content:  # all of the mail, with its signature
        signed = read_mail(files[0].content, key, in_mailbox=True)
        body, files = body or signed.body, signed.files
    sender = _address(
        mail.text(_SENDER) or mail.text(_REPRESENTED),
        mail.text(_SENDER_SMTP) or mail.text(_SENDER_ADDRESS) or mail.text(_REPRESENTED_ADDRESS),
    )
    return Mail(
        sender=(stated.sender if stated else "") or sender,
        to=tuple(receivers[1]) or (stated.to if stated else ()),
        cc=tuple(receivers[2]) or (stated.cc if stated else ()),
        date=(stated.date if stated else "") or mail.time(_SENT) or mail.time(_RECEIVED),
        subject=one_line(clean_text(mail.text(_SUBJECT))),
        body=body,
        files=files,
        notes=tuple(notes),
    )


def _read_body(mail: "_Storage", key: str, notes: list[str]) -> str:
    """Returns the plain body, else the text of the HTML body, else of the RTF body."""
    if (text := clean_text(mail.text(_BODY))).strip():
        return text
    page = mail.text(_HTML)
    if raw := mail.binary(_HTML):
        try:
            decoded = decode_text(raw, key, declared_encoding(raw) or mail.internet_code_page)
            notes += decoded.notes
            page = decoded.text
        except LoadFailed as error:
            notes.append(f"a part is left out: {error}")
    if page.strip():
        return _text_of_html(page)
    if not (packed := mail.binary(_RTF)):
        return ""
    unpacked = _unpack_rtf(packed)
    if not is_rtf(unpacked):
        notes.append("its body is left out: its compressed RTF is damaged")
        return ""
    found = read_rtf(unpacked, key)
    notes += found.notes
    if found.html:
        return _text_of_html(found.html)
    builder = TextBuilder()
    add_paragraphs(builder, found.paragraphs)
    builder.end_page()
    return builder.pages[0]


def _text_of_html(page: str) -> str:
    builder = TextBuilder()
    HtmlPage(page).add_text(builder, main=False)
    builder.end_page()
    return builder.pages[0]


def _read_file(file: CompoundFile, folder: tuple[str, ...], key: str, code_page: str, depth: int) -> AttachedFile:
    one = _Storage(file, folder, 8, code_page)
    name = one_line(clean_text(one.text(_LONG_FILE_NAME) or one.text(_FILE_NAME) or one.text(_NAME)))
    kind = one.text(_MIME).strip().lower()
    is_inline = bool(one.number(_HIDDEN) or one.number(_FLAGS) & _SHOWN_IN_BODY) or (
        bool(one.text(_CONTENT_ID)) and kind.startswith("image/")
    )
    inner = (*folder, f"__substg1.0_{_DATA:04X}000D")
    if one.number(_METHOD) == _OLE:  # an object of another program, shown as a picture
        return AttachedFile(name=name, media_type=kind or "application/x-ole", content=None, is_inline=is_inline)
    if not file.has(*inner, _PROPERTIES):
        return AttachedFile(name=name, media_type=kind, content=one.binary(_DATA) or None, is_inline=is_inline)
    if depth >= _DEEPEST:
        return AttachedFile(name="", media_type=_MAIL, content=None, title=name)
    mail = _read(file, inner, key, depth + 1)
    return AttachedFile(name="", media_type=_MAIL, content=_make_eml(mail).as_bytes(), title=mail.subject or name)


def _make_eml(mail: Mail) -> Message:
    """Returns an attached mail as a mail of its own. It keeps what is read of it, and its attachments."""
    message = MIMEMultipart()
    values = {"From": mail.sender, "To": ", ".join(mail.to), "Cc": ", ".join(mail.cc), "Subject": mail.subject}
    for name, value in values.items():
        if value:
            message[name] = Header(value, "utf-8").encode()
    if mail.date:
        message["Date"] = datetime.fromisoformat(mail.date).strftime("%a, %d %b %Y %H:%M:%S %z")
    message.attach(MIMEText(mail.body.encode("utf-8", "replace").decode(), "plain", "utf-8"))
    for file in mail.files:
        if file.content is None:
            continue
        if file.media_type == _MAIL:
            message.attach(MIMEMessage(BytesParser().parsebytes(file.content)))
            continue
        part = MIMEApplication(file.content)
        if _MEDIA_TYPE.fullmatch(file.media_type):
            part.replace_header("Content-Type", file.media_type)
        part.add_header("Content-Disposition", "inline" if file.is_inline else "attachment", filename=file.name)
        message.attach(part)
    return message


class _Storage:
    """The properties of a mail, a recipient or an attachment. `header` is the size of the header of its properties."""

    def __init__(self, file: CompoundFile, folder: tuple[str, ...], header: int, code_page: str = "") -> None:
        self._file = file
        self._folder = folder
        self._fixed: dict[int, bytes] = {}
        if file.has(*folder, _PROPERTIES):
            table = file.read(*folder, _PROPERTIES)
            for at in range(header, len(table) - 15, 16):
                self._fixed[struct.unpack_from("<H", table, at + 2)[0]] = table[at + 8 : at + 16]
        self.internet_code_page = _encoding(self.number(_INTERNET_CODE_PAGE))
        self.code_page = code_page or _encoding(self.number(_CODE_PAGE)) or self.internet_code_page or "cp1252"

    def text(self, number: int) -> str:
        """Returns a property that is a text; '' if it is missing."""
        if raw := self._read(number, "001F"):
            return raw.decode("utf-16-le", "ignore").rstrip("\0")
        raw = self._read(number, "001E").rstrip(b"\0")
        try:
            return decode_text(raw, "a property", self.code_page).text
        except LoadFailed:  # the code page is wrong; nothing is lost so
            return raw.decode("latin-1")

    def binary(self, number: int) -> bytes:
        """Returns a property that is bytes; b'' if it is missing."""
        return self._read(number, "0102")

    def number(self, number: int) -> int:
        value: int = struct.unpack("<I", self._fixed.get(number, bytes(8))[:4])[0]
        return value

    def time(self, number: int) -> str:
        """Returns a time (100 nanoseconds since 1601, UTC) as in ISO 8601; '' if it is missing."""
        ticks = struct.unpack("<Q", self._fixed.get(number, bytes(8)))[0]
        if not ticks:
            return ""
        try:
            when = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)
        except OverflowError:
            return ""
        return when.strftime("%Y-%m-%dT%H:%M:%SZ")

    def _read(self, number: int, kind: str) -> bytes:
        path = (*self._folder, f"__substg1.0_{number:04X}{kind}")
        return self._file.read(*path) if self._file.has(*path) else b""


def _encoding(code_page: int) -> str:
    """Returns Python's name of a code page of Windows; '' for none."""
    if 28591 <= code_page <= 28606:
        return f"iso8859-{code_page - 28590}"
    return _CODE_PAGES.get(code_page, f"cp{code_page}") if code_page else ""


def _address(name: str, address: str) -> str:
    """Returns a name with its address. Addresses within a firm that are no addresses of mail are left out."""
    name, address = (one_line(clean_text(text)).strip("\"' ") for text in (name, address))
    if "@" not in address:
        return name
    return f"{name} <{address}>" if name and name != address else address


def _unpack_rtf(packed: bytes) -> bytes:
    """Returns the RTF of a body ([MS-OXRTFCP]). It ends where the packed bytes do, or at the bound."""
    if packed[8:12] == b"MELA":
        return packed[16:]
    if packed[8:12] != b"LZFu":
        return b""
    window = bytearray(_DICTIONARY.ljust(4096, b"\0"))
    write, at, out = len(_DICTIONARY), 16, bytearray()
    while at < len(packed) and len(out) < _MOST_UNPACKED:
        control, at = packed[at], at + 1
        for bit in range(8):
            if at >= len(packed):
                break
            if control >> bit & 1:
                reference, at = int.from_bytes(packed[at : at + 2].ljust(2, b"\0"), "big"), at + 2
                offset, length = reference >> 4, (reference & 0xF) + 2
                if offset == write:
                    return bytes(out)
            else:
                offset, length, window[write], at = write, 1, packed[at], at + 1
            for n in range(length):
                window[write] = window[(offset + n) % 4096]
                out.append(window[write])
                write = (write + 1) % 4096
    return bytes(out)
