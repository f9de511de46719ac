"""Content-addressed ids: equal content has equal ids on any machine and backend.

No id contains the corpus, so the same documents have the same ids anywhere; a row's key is (corpus_id, id).
"""

import hashlib
import secrets
from collections.abc import Iterable


def digest(kind: str, parts: Iterable[str]) -> str:
    """Returns 128 bits of SHA-256 over length-prefixed parts, as 32 hexadecimal digits.

    The lengths keep ("ab", "c") and ("a", "bc") apart; `kind` keeps ids of chunks and entities apart.
    """
    h = hashlib.sha256(kind.encode())
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        h.update(len(raw).to_bytes(8, "big"))
        h.update(raw)
    return h.hexdigest()[:32]


def new_id() -> str:
    """Returns a random id, for what has no content to derive one from: corpora, jobs, claims."""
    return secrets.token_hex(16)


def content_hash(content: bytes) -> str:
    """Returns SHA-256 of a document's original bytes, the name under which they are stored."""
    return hashlib.sha256(content).hexdigest()


def document_id(key: str) -> str:
    return digest("document", [key])


def chunk_id(key: str, text: str, occurrence: int) -> str:
    """Returns the id of the `occurrence`-th chunk (from 0) with this text in the document `key`."""
    return digest("chunk", [key, text, str(occurrence)])


def entity_id(name: str) -> str:
    """Returns the id of the entity with this *normalised* name (`core.text.names.normalise`)."""
    return digest("entity", [name])


def merge_id(from_id: str, into_id: str) -> str:
    """Returns the id of the merge of one entity into another."""
    return digest("merge", [from_id, into_id])


def pair_id(first_id: str, second_id: str) -> str:
    """Returns the id of a pair of entities, whose order does not matter."""
    return digest("pair", sorted((first_id, second_id)))


def triple_id(subject_id: str, predicate: str, object_id: str) -> str:
    return digest("triple", [subject_id, predicate, object_id])


def assertion_id(triple: str, chunk: str) -> str:
    """Returns the id of a fact: one chunk's assertion of one triple."""
    return digest("assertion", [triple, chunk])


def embed_hash(title: str, heading: str, text: str, model: str) -> str:
    """Returns a hash that changes when a chunk must be embedded again."""
    return digest("embed", [title, heading, text, model])


def view_id(chunk: str, embedded: str) -> str:
    """Returns the id of a chunk's entries in the views (vector, text index).

    It changes with the embedded text, so that a changed title never overwrites an entry that is being read.
    """
    return digest("view", [chunk, embedded])
