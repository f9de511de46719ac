"""Every error that Hopweave raises on purpose.

HopweaveError
├── InvalidInput             a value that the caller gave is wrong
│   ├── InvalidFilter        a metadata filter that cannot be evaluated
│   ├── InvalidStrategy      an unknown strategy, or an option that it does not have
│   └── InvalidSettings      settings that contradict one another or cannot be read
├── NotFound                 a thing that was named does not exist
├── Conflict                 the thing exists already, or in another shape
│   └── EmbeddingMismatch    the corpus was built with another embedding model
├── UnsupportedMedia         no loader reads this kind of content
├── LoadFailed               a document's bytes could not be read as what they claim to be
├── TooLarge                 more than the limit of one call
├── FolderHeld               another worker holds the data folder
├── Fenced                   a worker lost its claim; what it wrote late was refused
├── Unavailable              a store, broker or model cannot be reached now; trying again may help
│   └── ModelUnavailable     a model's endpoint is down, slow, or has too much to do
├── ModelFailed              a model's endpoint refused, or its answer cannot be used
│   ├── ContextTooLong       the messages do not fit into what the model reads
│   └── ModelRefused         a model's endpoint refuses every call: a wrong key, a model that it does not know
└── BudgetExhausted          the calls, tokens or seconds that were allowed are used up

A message says what is wrong, where, and what to do about it. Adapters translate the errors of their SDK into these with
``raise … from``; nothing above the adapters catches an SDK's error.
"""


class HopweaveError(Exception):
    """The root of all errors that are part of Hopweave's contract."""


class InvalidInput(HopweaveError):
    """A value that the caller gave is wrong; the message names it and the remedy."""


class InvalidFilter(InvalidInput):
    """A metadata filter has an unknown operator, a wrong type, or is too deep or too long."""


class InvalidStrategy(InvalidInput):
    """A strategy is unknown, or was given an option that it does not have."""


class InvalidSettings(InvalidInput):
    """Settings contradict one another, or one of them cannot be read."""


class NotFound(HopweaveError):
    """A corpus, document, chunk or job that was named does not exist (or is being deleted)."""


class Conflict(HopweaveError):
    """The thing exists already, or exists in a shape that excludes the request."""


class EmbeddingMismatch(Conflict):
    """The corpus was built with another embedding model than the one that is configured."""


class UnsupportedMedia(HopweaveError):
    """No loader reads this kind of content."""


class LoadFailed(HopweaveError):
    """A document's bytes could not be read as what they claim to be."""


class TooLarge(HopweaveError):
    """More was sent than one call takes."""


class FolderHeld(HopweaveError):
    """Another worker holds the data folder; the message names its process."""


class Fenced(HopweaveError):
    """A worker lost its claim on a revision: the lease ran out, or the revision was superseded or cancelled."""


class Unavailable(HopweaveError):
    """A store, broker or model cannot be reached now. Work is handed back and tried again."""


class ModelUnavailable(Unavailable):
    """A language model's endpoint is down, slow, or has too much to do, also after it was asked again."""


class ModelFailed(HopweaveError):
    """A model's endpoint refused, or its answer cannot be used."""


class ContextTooLong(ModelFailed):
    """The messages do not fit into what the model reads; fewer passages may."""


class ModelRefused(ModelFailed):
    """A model's endpoint refuses every call, whatever is asked: the key is wrong, or it does not know the model."""


class BudgetExhausted(HopweaveError):
    """The calls, tokens or seconds that were allowed are used up."""
