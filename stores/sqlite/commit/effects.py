"""The effects of one commit, added up before entities are deleted: an entity goes with its last mention."""

from collections import Counter
from dataclasses import dataclass, field

from core.graph import Fact, Mention

__all__ = ["SqliteCommitEffects"]


@dataclass
class SqliteCommitEffects:
    """`corpus` is the number of the corpus. `mentions` and `facts` are written when all entities have numbers.

    `names` and `forms` are of the entities in the chunks that are written or deleted; forms are changes of counts.

    `triples` lost an assertion, `content_hashes` a revision. `inserted` and `deleted` are ids of chunks for the change
    log; a chunk may be in both. `old_views` are view ids that chunks had and have no more.
    """

    corpus_id: str
    corpus: int
    document_ids: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    forms: Counter[tuple[str, str]] = field(default_factory=Counter)
    triples: set[str] = field(default_factory=set)
    inserted: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    old_views: set[str] = field(default_factory=set)
    content_hashes: set[str] = field(default_factory=set)
    mentions: list[Mention] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
