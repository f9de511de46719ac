"""Attachments of mails as documents of their own: which files are documents, and their keys, titles and metadata.

The files are found and chosen in the parser process (`choose_documents`), and become submissions beside the one of
their mail (`make_submissions`). docs/decisions/0065-attachments-are-documents.md gives the reasons.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType

from core.documents import MAX_KEY_LENGTH, MAX_TITLE_LENGTH, Submission
from core.errors import LoadFailed, UnsupportedMedia
from core.ports.indexing import Source
from core.text.titles import one_line, stem_of
from indexer.loading.attachments import AttachedFile, FoundFiles, name_file
from indexer.selection.loaders import Loaders, media_type_of_content, module_of, tells_format
from indexer.submission.json_lines import Rejection

__all__ = [
    "ATTACHMENT_OF",
    "MAX_DEPTH",
    "MAX_FILES",
    "AttachmentReader",
    "attachment_prefix",
    "choose_documents",
    "find_documents",
    "make_submissions",
]

ATTACHMENT_OF = "attachment_of"
"""The field of the metadata of an attachment that has the key of its mail."""
MAX_FILES = 200
"""Attachments of one mail that become documents."""
MAX_DEPTH = 5
"""Mails that are attached to one another."""
_MOST = 900
"""Attachments of one mail, together with the ones of the mails that are attached to it."""
_FOLDER = "/attachments/"
_SIGNATURES = frozenset(
    f"application/{name}" for name in ("pgp-signature", "pkcs7-signature", "x-pkcs7-signature", "pgp-keys")
)
_MAIL = "message/rfc822"
_UNSTATED = frozenset(("", "application/octet-stream", "application/x-unknown", "application/unknown"))
_LISTED = 10


class AttachmentReader:
    """Reads the attachments of submitted mails, in the parser process of `loaders`.

    `mails` are the keys of the mails whose attachments are known, `attached` the keys of these attachments.
    """

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders
        self.mails: set[str] = set()
        self.attached: set[str] = set()

    def read(self, found: Iterable[Submission | Rejection]) -> Iterator[Submission | Rejection]:
        """Yields what is found, and after it the attachments of its mails, except those whose keys it has already.

        A mail that cannot be read has none: its own document fails with the reason.
        """
        keys = set[str]()
        mails = list[Submission]()
        for one in found:
            yield one
            if isinstance(one, Submission):
                keys.add(one.key)
                mails += [one] if self._loaders.reads_files(one.media_type) else []
        for mail in mails:
            attached = [one for one in self._read_mail(mail) if one.key not in keys]
            if len(attached) > _MOST:
                reason = f"it has more than {_MOST} attachments, with the mails in it; the others are left out"
                yield Rejection(source=mail.key, reason=reason)
            self.attached |= {one.key for one in attached[:_MOST]}
            yield from attached[:_MOST]

    def _read_mail(self, mail: Submission) -> list[Submission]:
        """Returns the attachments of a mail and of the mails among them: all, or somewhat more than `_MOST`."""
        waiting, attached = [mail], list[Submission]()
        for current in waiting:
            try:
                found = self._loaders.find_files(_make_source(current))
            except LoadFailed:  # loading the document of this mail fails for the same reason, which is shown there
                continue
            if current is mail:
                self.mails.add(mail.key)
            files = list(make_submissions(current, found))
            attached += files
            waiting += files
            if len(attached) > _MOST:
                break
        return attached


def _make_source(submission: Submission) -> Source:
    return Source(
        key=submission.key,
        content=submission.content,
        media_type=submission.media_type,
        title=submission.title,
        metadata=submission.metadata,
    )


def attachment_prefix(key: str) -> str:
    """Returns the beginning of the keys of all attachments of a mail."""
    return key + _FOLDER


def find_documents(module: ModuleType, content: bytes, key: str) -> FoundFiles:
    """Returns the attachments of a mail that are documents; `module` is the one of its loader. Raises what that raises.

    It parses the mail, so it is called in the parser process.
    """
    mail = module.read_files(content, key)
    files, _ = choose_documents(mail.files, key)
    return FoundFiles(subject=mail.subject, sender=mail.sender, date=mail.date, files=files)


def choose_documents(files: Sequence[AttachedFile], key: str) -> tuple[tuple[AttachedFile, ...], tuple[str, ...]]:
    """Returns the attachments of the mail `key` that are documents, and notes that name the others.

    Pictures within the body and signatures are neither: they are parts of the mail.
    """
    files = [file for file in files if not file.is_inline and file.media_type not in _SIGNATURES]
    if files and key.count(_FOLDER) >= MAX_DEPTH:
        names = _list([file.shown for file in files])
        return (), (f"not read, as its mail is attached to mails more than {MAX_DEPTH} deep: {names}",)
    chosen: dict[str, AttachedFile] = {}
    unread: dict[str, list[str]] = {}
    for number, file in enumerate(files, start=1):
        if not file.content:
            unread.setdefault("it has no bytes that can be read", []).append(file.shown)
            continue
        if len(chosen) == MAX_FILES:
            unread.setdefault(f"a mail has at most {MAX_FILES} attachments as documents", []).append(file.shown)
            continue
        try:
            media_type = _media_type_of(file)
        except UnsupportedMedia as error:
            unread.setdefault(str(error).partition("; ")[0], []).append(file.shown)
            continue
        name = _unused(_name(file, number, media_type), chosen)
        if len(attachment_prefix(key) + name) > MAX_KEY_LENGTH:
            unread.setdefault(f"its key would have more than {MAX_KEY_LENGTH} characters", []).append(file.shown)
            continue
        chosen[name] = replace(file, name=name, media_type=media_type)
    notes = (f"no document of its own: attachment {_list(names)}: {reason}" for reason, names in unread.items())
    return tuple(chosen.values()), tuple(notes)


def make_submissions(mail: Submission, found: FoundFiles) -> Iterator[Submission]:
    """Yields the attachments of a mail as submissions. Their keys are below the key of the mail, so the same file has
    the same key in the next version of the mail. They have the metadata that were given with it.
    """
    subject = found.subject or stem_of(mail.key)
    stated = {"mail_subject": found.subject, "mail_from": found.sender, "mail_date": found.date}
    metadata = {**mail.metadata, **{name: value for name, value in stated.items() if value}, ATTACHMENT_OF: mail.key}
    for file in found.files:
        yield Submission(
            key=attachment_prefix(mail.key) + file.name,
            content=file.content or b"",
            media_type=file.media_type,
            title=one_line(f"{file.title or file.name} (attached to: {subject})")[:MAX_TITLE_LENGTH],
            metadata=metadata,
        )


def _media_type_of(file: AttachedFile) -> str:
    """Returns the media type that the name tells, else the one that the mail states, else the one of the content.

    Raises `UnsupportedMedia` if no loader reads it.
    """
    if file.media_type == _MAIL:
        return _MAIL
    if not tells_format(file.name) and file.media_type not in _UNSTATED:
        module_of(file.media_type)
        return file.media_type
    return media_type_of_content(file.name or "attachment", file.content or b"")


def _name(file: AttachedFile, number: int, media_type: str) -> str:
    """Returns the name of a file, or one made of the title of an attached mail, or of the number of the file."""
    suffixes: tuple[str, ...] = module_of(media_type).SUFFIXES
    name = name_file(file.name or file.title) or f"attachment {number}"
    return name if (file.name and media_type != _MAIL) or name.lower().endswith(suffixes) else name + suffixes[0]


def _unused(name: str, taken: dict[str, AttachedFile]) -> str:
    stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
    number = 1
    while name in taken:
        number += 1
        name = f"{stem} ({number}){dot}{suffix}"
    return name


def _list(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
