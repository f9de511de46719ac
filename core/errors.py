"""Every error that Hopweave raises on purpose.

HopweaveError
├── InvalidInput             a value that the caller gave is wrong
│   ├── InvalidFilter        a metadata filter cannot be evaluated
│   ├── FilesRejected        no file of an upload can be used, or not all where all must be
│   ├── InvalidStrategy      a strategy is unknown, or does not have an option
│   └── InvalidSettings      settings contradict one another or cannot be read
├── Forbidden                the caller's key does not permit the call
├── RateLimited              a key has used up a limit of this minute, or too many calls wait
├── NotFound                 something that was named does not exist
├── Conflict                 something exists already, or in another form
│   ├── KeysExist            documents with the given keys exist, and must not
│   └── EmbeddingMismatch    the corpus was built with another embedding model
├── UnsupportedMedia         no loader reads this kind of content
├── LoadFailed               a document's bytes are not of their media type
├── TooLarge                 more than the limit of one call
├── QueueFull                as many documents wait as may; later there is room
├── FolderHeld               another worker holds the data folder
├── Fenced                   a worker lost its claim, and its late write was refused
├── Unavailable              a store, broker or model cannot be reached now; retrying may help
│   └── ModelUnavailable     a model's endpoint is down, slow or overloaded
├── ModelFailed              a model's endpoint refused, or its answer cannot be used
│   ├── MalformedReply       a model answered twice in another form than requested
│   ├── ContextTooLong       the messages do not fit into the model's context
│   └── ModelRefused         a model's endpoint refuses every call: a wrong key, or an unknown model
├── TimedOut                 what a request waits for did not come in time
└── BudgetExhausted          the allowed calls, tokens or seconds are used up

A message says what is wrong, where, and what to do about it. Adapters translate the errors of their SDK into these with
``raise … from``; nothing above the adapters catches an SDK's error.
"""

from collections.abc import Sequence


class HopweaveError(Exception):
    """The root of all errors that are part of Hopweave's contract."""


class InvalidInput(HopweaveError):
    """A value that the caller gave is wrong; the message names it and the remedy."""


class InvalidFilter(InvalidInput):
    """A metadata filter has an unknown operator, a wrong type, or is too deep or too long."""


class FilesRejected(InvalidInput):
    """No file of an upload can be used, or not all where all must be. Nothing was written.

    `rejected` has each file, or place in a file, with the reason.
    """

    def __init__(self, message: str, rejected: Sequence[tuple[str, str]]) -> None:
        super().__init__(message)
        self.rejected = tuple(rejected)


class InvalidStrategy(InvalidInput):
    """A strategy is unknown, or was given an option that it does not have."""


class InvalidSettings(InvalidInput):
    """Settings contradict one another, or a setting cannot be read."""


class Forbidden(HopweaveError):
    """The caller's key does not permit the call; the message names what the key lacks."""


class RateLimited(HopweaveError):
    """A key has used up a limit of this minute, or too many calls of a kind wait. `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotFound(HopweaveError):
    """A corpus, document, chunk or job that was named does not exist, or is being deleted."""


class Conflict(HopweaveError):
    """Something exists already, or exists in a form that excludes the request."""


class KeysExist(Conflict):
    """Documents with some of the given keys exist, and must not. Nothing was written. `keys` are all of these."""

    def __init__(self, message: str, keys: Sequence[str]) -> None:
        super().__init__(message)
        self.keys = tuple(keys)


class EmbeddingMismatch(Conflict):
    """The corpus was built with another embedding model than the configured model."""


class UnsupportedMedia(HopweaveError):
    """No loader reads this kind of content."""


class LoadFailed(HopweaveError):
    """A document's bytes cannot be read as the media type that they claim to be."""


class TooLarge(HopweaveError):
    """More was sent than one call accepts."""


class QueueFull(HopweaveError):
    """As many documents of a corpus wait to be indexed as may. Nothing was written; later there is room."""


class FolderHeld(HopweaveError):
    """Another worker holds the data folder; the message names its process."""


class Fenced(HopweaveError):
    """A worker lost its claim on a revision: the lease expired, or the revision was superseded or cancelled."""


class Unavailable(HopweaveError):
    """A store, broker or model cannot be reached now. Work is put back and retried."""


class ModelUnavailable(Unavailable):
    """A language model's endpoint is down, slow or overloaded, also after retries."""


class ModelFailed(HopweaveError):
    """A model's endpoint refused, or its answer cannot be used."""


class MalformedReply(ModelFailed):
    """A model answered twice in another form than requested, or its token limit cut the answer off.

    `text` is its last answer; `cut`: its token limit cut it off.
    """

    def __init__(self, message: str, text: str = "", *, cut: bool = False) -> None:
        super().__init__(message)
        self.text = text
        self.cut = cut


class ContextTooLong(ModelFailed):
    """The messages do not fit into the model's context; fewer passages may fit."""


class ModelRefused(ModelFailed):
    """A model's endpoint refuses every call: the key is wrong, or the model is unknown there."""


class TimedOut(HopweaveError):
    """What a request waits for did not come in time. The same request may succeed later."""


class BudgetExhausted(HopweaveError):
    """The allowed calls, tokens or seconds are used up."""
