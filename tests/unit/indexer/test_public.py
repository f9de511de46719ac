"""The package's surface."""

import indexer


def test_what_is_public_is_there() -> None:
    assert len(set(indexer.__all__)) == len(indexer.__all__)
    assert all(hasattr(indexer, name) for name in indexer.__all__)
