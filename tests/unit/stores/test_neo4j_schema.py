import pytest

from core.errors import InvalidSettings
from stores.neo4j.driver.schema import SCHEMA_VERSION, STEPS, check_server_version, steps_from
from stores.neo4j.driver.transaction import script, statements


@pytest.mark.parametrize("agent", ["Neo4j/5.26.30", "Neo4j/5.13.0", "Neo4j/2025.10.1", "Neo4j/5.26.0-aura"])
def test_supported_servers(agent: str):
    check_server_version("bolt://here", agent)


@pytest.mark.parametrize("agent", ["Neo4j/4.4.40", "Neo4j/5.12.0", "Neo4j/dev", "Memgraph", "Neo4j/", ""])
def test_unsupported_servers_are_refused(agent: str):
    with pytest.raises(InvalidSettings, match=r"bolt://here.*Neo4j 5\.26.*HOPWEAVE_NEO4J__URI"):
        check_server_version("bolt://here", agent)


def test_every_migration_has_its_statement():
    named = {name for names in STEPS.values() for name in names}
    assert not named or named <= set(statements("migrations"))


def test_there_is_no_migration_back_or_from_nothing():
    assert steps_from(SCHEMA_VERSION, SCHEMA_VERSION) == []
    assert steps_from(SCHEMA_VERSION + 1, SCHEMA_VERSION) is None
    assert steps_from(0, SCHEMA_VERSION) is None


def test_a_script_is_split():
    each = script("schema", "constraints")
    assert len(each) > 20
    assert all(one.startswith("CREATE ") and ";" not in one for one in each)
