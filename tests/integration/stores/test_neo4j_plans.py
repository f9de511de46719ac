"""Statements find their rows by indexes, whatever the database held when they were planned."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from stores.neo4j.driver.transaction import statements
from stores.neo4j.record import Neo4jRecord
from tests.integration.stores.neo4j_databases import driver_of
from tests.servers.addresses import Neo4jAddress

pytestmark = pytest.mark.servers

READING = ("documents", "contents", "graph", "exporter", "text_index")
FILES = (
    *READING,
    *("certificates", "claims", "commits", "maintenance", "merges", "questions", "repair", "resolution"),
    *("slices", "staging", "synonyms", "tombstones"),
)
WHOLE_LABELS = {"Corpus", "Removal"}
"""Labels with few nodes, which statements that write may scan. Workers make certificates of removals at once, and
delete them.
"""


_PARAMETERS = {
    **dict.fromkeys(("corpus", "prefix", "uid", "after", "key", "query", "state"), "x"),
    "rows": ["x"],
    "uids": ["x"],
    "documents": ["x"],
    **dict.fromkeys(("limit", "since"), 1),
}
_ROWS: dict[str, dict[str, Any]] = {"write": {"rows": [{"uid": "x"}]}, "some_entities": {"rows": [1]}}
_COLLECTING = {"Sort", "Eager", "Top", "EagerAggregation", "NodeHashJoin"}


@pytest.fixture
async def planner(record: Neo4jRecord, neo4j_server: Neo4jAddress) -> AsyncIterator[Any]:
    """Opens a session with an empty database, in which a scan costs as little as a seek."""
    await record.check()
    with driver_of(neo4j_server) as driver, driver.session(database="neo4j") as session:
        yield session


def operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield plan["operatorType"].partition("@")[0], str(plan["args"].get("Details", ""))
    for child in plan.get("children", ()):
        yield from operators(child)


async def test_dated_documents_are_found_by_their_index(planner: Any) -> None:
    plan = planner.run(f"EXPLAIN {statements('documents')['dated']}").consume().plan
    assert any("Index" in operator and "dated" in details for operator, details in operators(plan))


@pytest.mark.parametrize("file", FILES)
async def test_no_statement_scans_and_none_of_the_export_collects_its_rows(planner: Any, file: str) -> None:
    scans = {}
    for name, statement in statements(file).items():
        given = {**_PARAMETERS, **_ROWS.get(name, {})} if file in READING else {}
        plan = planner.run(f"EXPLAIN {statement}", given).consume().plan
        found = [
            f"{operator}: {details}"
            for operator, details in operators(plan)
            if ("Scan" in operator and (file in READING or not any(f":{label}" in details for label in WHOLE_LABELS)))
            or (":Revision(state)" in details and name != "corpora_with_leases")  # may be all of them
            or (file == "exporter" and operator in _COLLECTING)
        ]
        if found:
            scans[name] = found
    assert scans == {}
