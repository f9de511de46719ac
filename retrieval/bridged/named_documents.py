"""Documents that the lead-in of a question names: the lease in `Consider the lease of Halden; may the tenant sublet?`.

The lead-in says where to look, and the rest what to look for. With both in one vector, the name of the document draws
the passage that has it, mostly the first, before the clause that answers. So passages are compared with the rest as
well, and passages of other documents lose.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.documents import DocumentRef
from core.ports.embedding import Embedder
from core.text.lead_in import find_naming
from core.text.name_spans import find_names
from core.text.terms import hash_stem
from core.text.titles import stem_of
from retrieval.bridged.question_words import DOCUMENT
from retrieval.bridged.versions import Versions, count_lacking, find_name_stems
from retrieval.candidates.pool import Pool, weigh_exact_words
from retrieval.graph.snapshot import GraphSnapshot

_LEAST_DOCUMENTS = 2
_MOST_OF_TITLE = 0.5
_MOST_OF_NAMES = 0.7
_LEAST_WORTH = 1.0
"""What the words of a named document tell at least: a word that a third of the documents have, or fewer."""
_AS_GOOD = 0.9
"""Documents that are named nearly as well as the best are named, too."""

_SHORT_KIND = re.compile(r"(?<=\s)(?:EULA|NDA|DPA|MSA|SLA|CLA|ToS|ToU|T&C|AGB|AVV)\b")

Named = Mapping[str, frozenset[str]]
"""The stems by which the lead-in names each of some documents, by their ids; empty if it names none."""


def find_named(
    question: str, refs: Mapping[str, DocumentRef], chunks: NDArray[np.int64], snapshot: GraphSnapshot
) -> Named:
    """Returns the documents that have the words of a question's lead-in, which few documents have, or a title or file
    name that the lead-in mostly says; none if it tells no documents apart, or if one of them has few of the candidates
    `chunks`.
    """
    said = find_name_stems(_find_named_by(question))
    owners = snapshot.document_ids(chunks.tolist())
    counts = Counter(owners)
    names = {
        id: (find_name_stems(ref.title), find_name_stems(stem_of(ref.key))) for id, ref in refs.items() if counts[id]
    }
    titles = {id: title | file for id, (title, file) in names.items()}
    if not said or len(titles) < _LEAST_DOCUMENTS:
        return {}
    rows, owner = snapshot.terms_of(chunks)
    by_hash = {hash_stem(stem): stem for stem in said}
    at = np.flatnonzero(np.isin(rows["stem"], np.array(list(by_hash), np.uint32)))
    held = {id: titles[id] & said for id in titles}
    for stem, place in zip(rows["stem"][at].tolist(), owner[at].tolist(), strict=True):
        if owners[place] in held:
            held[owners[place]] |= {by_hash[stem]}
    having = Counter(stem for stems in held.values() for stem in stems)
    titled = Counter(stem for words in titles.values() for stem in words & said)
    said_titles = {id: titles[id] & said for id in titles if any(_is_said(name, said) for name in names[id])}
    scores = {
        id: sum(np.log(len(titles) / having[stem]) for stem in held[id])
        + sum(np.log(len(titles) / titled[stem]) for stem in said_titles.get(id, ()))
        for id in titles
    }
    best = max(scores.values())
    if best < _LEAST_WORTH:
        return {}
    wholly = choose_wholly_named(question, held)
    if wholly:
        best = max(scores[id] for id in wholly)
    named = {id: held[id] for id, score in scores.items() if score >= _AS_GOOD * best and (not wholly or id in wholly)}
    return named if min(counts[id] for id in named) >= DOCUMENT else {}


def _find_named_by(question: str) -> str:
    """Returns what a question names, without short forms of kinds: an agreement seldom calls itself EULA."""
    naming = find_naming(question)
    return _SHORT_KIND.sub("", naming.named) if naming else ""


def _is_said(name: frozenset[str], said: frozenset[str]) -> bool:
    """Returns whether a lead-in says most words of a title or file name."""
    return bool(name) and len(name & said) >= _MOST_OF_TITLE * len(name)


def choose_wholly_named(question: str, named: Named) -> frozenset[str]:
    """Returns the ids of the documents that have nearly all words of the names in the question's lead-in. With another
    party, the lead-in is about another document, which the corpus lacks.
    """
    names = find_names(_find_named_by(question))
    words = find_name_stems(" ".join(name.form for name in names))
    return frozenset(id for id, held in named.items() if words and len(words & held) >= _MOST_OF_NAMES * len(words))


def keep_asked_versions(named: Named, question: str, versions: Versions) -> Named:
    """Returns the documents but versions that a question does not ask for: in `the pension section of the Q2 report`,
    the report of Q1 may be the one with such a section.
    """
    lacking = count_lacking(versions, question)
    return {id: stems for id, stems in named.items() if not lacking.get(id)}


async def compare_with_rest(pool: Pool, question: str, embedder: Embedder) -> Pool:
    """Returns the candidates with cosines of a vector half way between the question and its rest without lead-in."""
    naming = find_naming(question)
    rest = naming.rest if naming else question
    exact = weigh_exact_words(pool.exact_words.within(rest), pool.chunks)
    if not pool.vectors.size:
        return replace(pool, exact=exact)
    between = pool.vector + await embedder.embed_query(rest)
    length = float(np.linalg.norm(between))
    cosines = (pool.vectors @ between).astype(np.float64) / (length or 1.0)
    return replace(pool, dense=np.where(np.isnan(pool.dense), np.nan, cosines), exact=exact)


def find_unnamed_passages(named: Named, chunks: NDArray[np.int64], snapshot: GraphSnapshot) -> NDArray[np.float64]:
    """Returns 1 for each passage of another document than the named ones, else 0, (n,).

    A passage that has all words by which a document is named, none of them in small letters, is about it: a letter
    about the lease.
    """
    out = np.zeros(len(chunks))
    others = [place for place, id in enumerate(snapshot.document_ids(chunks.tolist())) if id not in named]
    if not named or not others:
        return out
    out[others] = 1
    rows, owner = snapshot.terms_of(chunks[others])
    for words in set(named.values()):
        stems = np.array(sorted(map(hash_stem, words)), np.uint32)
        is_name = np.isin(rows["stem"], stems) & (rows["count"] > 0) & (rows["lower"] == 0)
        out[np.array(others)[np.bincount(owner[is_name], minlength=len(others)) == len(stems)]] = 0
    return out
