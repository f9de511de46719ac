"""Addresses of this machine."""

import pytest

from api.guard import is_loopback


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
def test_loopback(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.2", "", "example.org", "localhost.example.org"])  # noqa: S104
def test_beyond(address: str) -> None:
    assert not is_loopback(address)
