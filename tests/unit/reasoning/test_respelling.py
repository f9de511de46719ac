"""Which words of a question are read as other words of the corpus."""

from collections import Counter
from collections.abc import Collection

import pytest

from core.corpora import Corpus
from core.ports.reasoning import Question, Unsupported
from core.ports.retrieval import PassageCounts
from core.text.terms import split_words
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.respelling import respell
from testing.word_search import CORPUS, RecordingSearcher, hit
from tests.twins.embedder import TwinEmbedder

PASSAGES = [
    hit("lease", "Lease of Halden", "The deposit is paid back within thirty days. The margin of error is separate."),
    hit("secret", "Plan", "The merger with Storvik is planned for a receipt in May."),
]


async def read(
    text: str, documents: frozenset[str] | None = None, unsupported: Unsupported = Unsupported.INFER
) -> tuple[str, str]:
    async def count(_: Corpus, stems: Collection[str]) -> PassageCounts:
        having = Counter(stem for hit in PASSAGES for stem in {word.stem for word in split_words(hit.chunk.text)})
        return PassageCounts(passages=len(PASSAGES), having={stem: having[stem] for stem in stems})

    searcher = RecordingSearcher("bridged", PASSAGES, [])
    backends = ReasoningBackends(searcher=searcher, embedder=TwinEmbedder(), count_passages=count)
    question, note = await respell(
        backends, Question(corpus=CORPUS, text=text, documents=documents, unsupported=unsupported), Trace()
    )
    return question.text, note


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("When is the depsoit paid back?", "When is the deposit paid back?"),
        ("When is it pad bck, in thrty days?", "When is it pad bck, in thirty days?"),
        (
            "When is the deposti paid, and is the margn seperate?",
            "When is the deposit paid, and is the margin separate?",
        ),
        ("When is the deposit paid back?", None),
        ("When is Depsoit paid back?", None),  # a name
        ("When is the debosit paid back?", None),  # another consonant is another word
        ("Does it repaid within thirdly days?", None),  # other words, which a list has
        ("When is the dep paid back?", None),
        ("When is the epdosit paid back?", None),
        ("When is the deposite plannen?", None),  # another form of a word
        ("wann bekomme ich meine depsoit zurück", None),  # too little of it is known
    ],
)
async def test_a_word_that_no_passage_has_is_read_as_a_word_one_slip_away(text: str, read_as: str | None) -> None:
    found, note = await read(text)
    assert await read(text, unsupported=Unsupported.ABSTAIN) == (text, "")
    assert found == (read_as or text)
    assert bool(note) is (read_as is not None)


async def test_a_word_of_a_document_that_may_not_be_read_is_not_told() -> None:
    question = "Where is the reciept of the deposit?"
    assert "whether “reciept” means “receipt”" in (await read(question))[1]
    assert await read(question, frozenset({"lease"})) == (question, "")
