"""The example corpus through `run_experiment`: the real stores, a worker in this process, the embedder's twin."""

import re

import pytest

from app.container import Container
from core.errors import InvalidStrategy, NotFound
from evaluation import Experiment, Result, run_experiment
from tests.integration.evaluation.workbench import EXAMPLE, WorkerHere


async def evaluated(container: Container, experiment: Experiment) -> Result:
    told: list[tuple[str, int, int]] = []
    result = await run_experiment(container, WorkerHere(), EXAMPLE, experiment, lambda *progress: told.append(progress))
    assert all(done <= total for _, done, total in told)
    return result


async def test_a_dataset_is_indexed_searched_and_asked(container: Container) -> None:
    experiment = Experiment(searchers=("sparse", "fused:pool=50"), reasoners=("extractive",), limit=5)
    result = await evaluated(container, experiment)
    assert result.index is not None
    assert (result.index.indexed, result.index.unchanged) == (99, 0)
    assert result.index.passages_per_second == pytest.approx(99 / (result.index.seconds or 0))
    assert (result.index.peak_rss_mb or 0) > 10
    assert re.fullmatch(r"eval-musique-small-[0-9a-f]{8}", result.corpus)
    assert set(result.searchers) == {"sparse", "fused:pool=50"}
    assert [len(result.searches), len(result.answers)] == [10, 5]
    # The first question names a village that one passage is about: every searcher has to find it.
    assert all(scores.means["mrr"] > 0.5 and not scores.failed for scores in result.searchers.values())
    assert result.reasoners["extractive"]["failed"] == 0


async def test_the_second_time_nothing_is_indexed_and_another_extractor_has_another_corpus(
    container: Container,
) -> None:
    first = await evaluated(container, Experiment(searchers=("sparse",), limit=1))
    again = await evaluated(container, Experiment(searchers=("sparse",), limit=1))
    assert again.index is not None
    assert (again.corpus, again.index.indexed, again.index.unchanged) == (first.corpus, 0, 99)
    assert again.index.seconds is None
    given = await evaluated(container, Experiment(searchers=("graph",), limit=1, extractor="given"))
    assert given.corpus != first.corpus
    corpus = await container.record.corpora.get(given.corpus)
    assert (await container.record.corpora.count(corpus.id)).facts > 100


async def test_a_corpus_that_is_there_is_taken_as_it_is(container: Container) -> None:
    made = await evaluated(container, Experiment(searchers=("sparse",), limit=12))
    taken = await evaluated(container, Experiment(searchers=("sparse",), limit=12, corpus=made.corpus))
    assert taken.index is None
    assert [row.ranking for row in taken.searches] == [row.ranking for row in made.searches]
    with pytest.raises(NotFound):
        await evaluated(container, Experiment(corpus="unknown"))


async def test_lower_case_questions_are_asked_in_lower_case(container: Container) -> None:
    result = await evaluated(container, Experiment(searchers=("sparse",), lowercase=True, limit=2))
    assert result.searches[1].question.startswith("when was the astronomical clock built")
    written = await evaluated(container, Experiment(searchers=("sparse",), limit=2))
    assert written.searches[1].question.startswith("When was the astronomical clock built")
    assert written.corpus == result.corpus


async def test_a_wrong_name_is_one_error_before_anything_is_indexed(container: Container) -> None:
    for experiment in (Experiment(searchers=("nearest",)), Experiment(reasoners=("oracle",))):
        with pytest.raises(InvalidStrategy, match="there is no"):
            await evaluated(container, experiment)
    assert await container.record.corpora.list() == []


async def test_a_searcher_that_fails_has_a_row_for_every_question(container: Container) -> None:
    """A question that is too long is refused by the use case; it scores nothing and is counted."""
    await evaluated(container, Experiment(searchers=("sparse",), limit=1))
    file = container.settings.data_dir / "long.jsonl"
    long = "why " * 6000
    file.write_text('{"id": "q", "question": "' + long + '", "answer": "x", "supporting": ["p01023"]}\n')
    result = await evaluated(container, Experiment(searchers=("sparse",), questions=file, reasoners=("extractive",)))
    (row,) = result.searches
    assert row.error is not None
    assert "characters" in row.error
    assert result.searchers["sparse"].failed == 1
    assert result.reasoners["extractive"]["failed"] == 1
