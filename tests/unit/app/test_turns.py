"""Whose turn it is, whom nobody can reach any more, and what is said of it."""

import logging

import pytest

from app.broker.notifier import OutageLog
from core.errors import Unavailable
from core.record_policy.claims import next_corpus, size_class


def test_corpora_take_turns() -> None:
    assert next_corpus([], "b") is None
    assert next_corpus(["b"], "b") == "b"
    assert next_corpus(["c", "a", "b"], "b") == "c"
    assert next_corpus(["c", "a", "b"], "c") == "a"
    assert next_corpus(["a", "c"], "b") == "c", "the last one need not wait any more"
    assert next_corpus(["a", "b", "c"], "a", leaving_out={"a", "b"}) == "c"
    assert next_corpus(["a", "b"], "a", leaving_out={"a", "b"}) is None


def test_classes_of_sizes_meet() -> None:
    sizes = [0, 100, 101, 1600, 1601, 25_600, 25_601]
    classes = [size_class(size, 100) for size in sizes]
    assert all(size in one for size, one in zip(sizes, classes, strict=True))
    assert [classes[n] == classes[n + 1] for n in range(6)] == [True, False, True, False, True, False]
    assert classes[1].stop == classes[2].start


def test_an_outage_is_told_once_and_its_end(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("test.outages")
    outages = OutageLog(log)
    with caplog.at_level(logging.INFO, logger=log.name):
        outages.report_recovery("record")
        for _ in range(3):
            outages.report_outage("record", Unavailable("Neo4j is away"))
        outages.report_outage("broker", Unavailable("Redis is away"))
        outages.report_recovery("record")
        outages.report_outage("record", Unavailable("Neo4j is away again"))
    levels = [(record.levelname, record.getMessage().split(",")[0]) for record in caplog.records]
    assert levels == [
        ("WARNING", "Neo4j is away"),
        ("WARNING", "Redis is away"),
        ("INFO", "the record answers again"),
        ("WARNING", "Neo4j is away again"),
    ]
