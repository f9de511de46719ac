"""Addresses of this machine."""

from api.guard import is_loopback


def test_addresses_of_this_machine_and_beyond() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost")))
    beyond = ("0.0.0.0", "::", "192.168.1.2", "", "example.org", "localhost.example.org")  # noqa: S104
    assert not any(map(is_loopback, beyond))
