"""Attachments of mails as documents of their own: which files are documents, and their keys, titles and metadata.

The files are found and chosen in the parser process (`AttachmentChoice`), and become submissions beside their
mail (`make_submissions`). docs/decisions/0065-attachments-are-documents.md gives the reasons.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType

from core.documents import MAX_KEY_LENGTH, MAX_TITLE_LENGTH, Submission
from core.errors import LoadFailed, UnsupportedMedia
from core.text.titles import one_line, stem_of
from indexer.loading.attachments import AttachedFile, FoundFiles, name_file
from indexer.loading.texts.mails import Mail
from indexer.selection.loaders import Loaders, media_type_of_content, module_of, tells_format
from indexer.submission.json_lines import Rejection
from indexer.submission.submissions import source_of

ATTACHMENT_OF = "attachment_of"
"""The field of the metadata of an attachment that has the key of its mail."""
MAX_FILES = 200
"""Attachments of one mail that become documents."""
MAX_OF_MAILBOX = 5000
"""Attachments of all mails of one mailbox that become documents."""
MAX_DEPTH = 5
"""Mails that are attached to one another."""
_MOST = 900
"""Attachments of one mail and of the mails that are attached to it. The bound for a mailbox is `MAX_OF_MAILBOX`."""
_LONGEST_SUBJECT = 80
"""Characters of a subject in the keys of the attachments of a mailbox."""
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
        """Yields `found`, then the attachments of its mails, except attachments with a key that `found` has already.

        A mail that cannot be read has no attachments: its own document fails with the reason.
        """
        keys = set[str]()
        mails = list[Submission]()
        for item in found:
            yield item
            if isinstance(item, Submission):
                keys.add(item.key)
                mails += [item] if self._loaders.reads_files(item.media_type) else []
        for mail in mails:
            read, most = self._read_mail(mail)
            attached = [item for item in read if item.key not in keys]
            if len(attached) > most:
                reason = f"it has more than {most:,} attachments, with the mails in it; the others are left out"
                yield Rejection(source=mail.key, reason=reason)
            self.attached |= {item.key for item in attached[:most]}
            yield from attached[:most]

    def _read_mail(self, mail: Submission) -> tuple[list[Submission], int]:
        """Returns the attachments of a mail or mailbox and of the mails among them, all or somewhat more than it may
        have, and how many it may have.
        """
        waiting, attached, most = [mail], list[Submission](), _MOST
        for current in waiting:
            try:
                found = self._loaders.find_files(source_of(current))
            except LoadFailed:  # loading the document of this mail fails for the same reason, which is shown there
                continue
            if current is mail:
                self.mails.add(mail.key)
                most = MAX_OF_MAILBOX if any(mail.folder for mail in found) else _MOST
            files = list(make_submissions(current, found))
            attached += files
            waiting += files
            if len(attached) > most:
                break
        return attached, most


def attachment_prefix(key: str) -> str:
    """Returns the beginning of the keys of all attachments of a mail."""
    return key + _FOLDER


def find_documents(module: ModuleType, content: bytes, key: str) -> tuple[FoundFiles, ...]:
    """Returns the attachments that are documents, for each mail of a file that has some. Raises what `module`, its
    loader, raises.

    It parses the mails, so it is called in the parser process.
    """
    choice = AttachmentChoice(key)
    mails = (choice.choose(mail) for mail in module.read_files(content, key))
    return tuple(found for found in mails if found.files)


class AttachmentChoice:
    """Tells which attachments of the mail or mailbox `key` are documents: the others are named in `notes`.

    Pictures within the body and signatures are parts of the mail: they are no documents, and `notes` leaves them out.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._chosen = 0
        self._numbers: dict[str, dict[str, int]] = {}
        """For each name of a folder, the greatest number that was added to it."""
        self._unread: dict[str, list[str]] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Returns a note for each reason why attachments are no documents, with the names of some attachments."""
        return tuple(
            f"no document of its own: attachment {_list(names)}: {reason}" for reason, names in self._unread.items()
        )

    def choose(self, mail: Mail) -> FoundFiles:
        """Returns the attachments of the next mail that are documents. In a mailbox, they are in a folder of the mail,
        which mails of one day with the same subject share.
        """
        files = [file for file in mail.files if not file.is_inline and file.media_type not in _SIGNATURES]
        folder = _name_folder(mail) if mail.in_mailbox and files else ""
        chosen = list[AttachedFile]()
        for number, file in enumerate(files, start=1):
            reason, media_type = self._find_fault(file, len(chosen))
            name = "" if reason else self._find_unused(folder, _name(file, number, media_type))
            if name and len(attachment_prefix(self._key)) + len(folder) + 1 + len(name) > MAX_KEY_LENGTH:
                reason = f"its key would have more than {MAX_KEY_LENGTH} characters"
            if reason:
                self._unread.setdefault(reason, []).append(file.shown)
                continue
            chosen.append(replace(file, name=name, media_type=media_type))
        self._chosen += len(chosen)
        return FoundFiles(folder=folder, subject=mail.subject, sender=mail.sender, date=mail.date, files=tuple(chosen))

    def _find_fault(self, file: AttachedFile, chosen: int) -> tuple[str, str]:
        """Returns why a file is no document, else '', and its media type; `chosen` files of its mail are documents."""
        if self._key.count(_FOLDER) >= MAX_DEPTH:
            return f"its mail is attached to mails more than {MAX_DEPTH} deep", ""
        if not file.content:
            return "it has no bytes that can be read", ""
        if chosen == MAX_FILES:
            return f"a mail has at most {MAX_FILES} attachments as documents", ""
        if self._chosen + chosen == MAX_OF_MAILBOX:
            return f"a mailbox has at most {MAX_OF_MAILBOX:,} attachments as documents", ""
        try:
            return "", _media_type_of(file)
        except UnsupportedMedia as error:
            return str(error).partition("; ")[0], ""

    def _find_unused(self, folder: str, name: str) -> str:
        """Returns the name with a number if an attachment in the folder has it already: `a (2).txt`."""
        numbers = self._numbers.setdefault(folder, {})
        stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
        unused, number = name, numbers.get(name, 0)
        while unused in numbers:
            number += 1
            unused = f"{stem} ({number}){dot}{suffix}"
        numbers[name] = max(number, 1)
        numbers.setdefault(unused, 1)
        return unused


def make_submissions(mail: Submission, found: Iterable[FoundFiles]) -> Iterator[Submission]:
    """Yields the attachments of a mail or mailbox as submissions. Their keys are below its key, so a file keeps its key
    in the next version of the mail. They have the metadata and the access that were given with the mail.
    """
    for part in found:
        subject = part.subject or stem_of(mail.key)
        stated = {"mail_subject": part.subject, "mail_from": part.sender, "mail_date": part.date}
        metadata = {
            **mail.metadata,
            **{name: value for name, value in stated.items() if value},
            ATTACHMENT_OF: mail.key,
        }
        folder = f"{part.folder}/" if part.folder else ""
        for file in part.files:
            yield Submission(
                key=f"{attachment_prefix(mail.key)}{folder}{file.name}",
                content=file.content or b"",
                media_type=file.media_type,
                title=one_line(f"{file.title or file.name} (attached to: {subject})")[:MAX_TITLE_LENGTH],
                metadata=metadata,
                access=mail.access,
            )


def _name_folder(mail: Mail) -> str:
    """Returns the day and the subject of a mail as a part of keys, `2024-04-01 Offer`. Neither changes if other mails
    join the mailbox or are deleted from it, as their number would.
    """
    return name_file(f"{mail.date[: len('2024-04-01')]} {mail.subject[:_LONGEST_SUBJECT]}") or "mail"


def _media_type_of(file: AttachedFile) -> str:
    """Returns the media type by the name, else the media type that the mail states, else by the content.

    Raises `UnsupportedMedia` if no loader reads it.
    """
    if file.media_type == _MAIL:
        return _MAIL
    if not tells_format(file.name) and file.media_type not in _UNSTATED:
        module_of(file.media_type)
        return file.media_type
    return media_type_of_content(file.name or "attachment", file.content or b"")


def _name(file: AttachedFile, number: int, media_type: str) -> str:
    """Returns the name of a file, else a name made of the title of an attached mail, or of the number of the file."""
    suffixes: tuple[str, ...] = module_of(media_type).SUFFIXES
    name = name_file(file.name or file.title) or f"attachment {number}"
    return name if (file.name and media_type != _MAIL) or name.lower().endswith(suffixes) else name + suffixes[0]


def _list(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
