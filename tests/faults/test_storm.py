"""Five rounds of `tests.faults.storm`; a hundred by hand. A failure names the seed of its round."""

import random
from pathlib import Path

import pytest

from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.storm import run_storm

ROUNDS = 5


@pytest.mark.slow
async def test_a_storm_of_kills_leaves_what_an_undisturbed_round_leaves(tmp_path: Path) -> None:
    with embedding_endpoint(dimension=16):
        assert await run_storm(tmp_path, ROUNDS, random.SystemRandom().randrange(10**6)) == []
