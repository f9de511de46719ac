"""The value of a session, the secret that signs it, the pages that it is accepted from, and wrong keys."""

import asyncio
import hashlib
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from api.access import limits as attempts_module
from api.access.keys import KEYLESS, OF_SETTINGS
from api.access.limits import MOST, Attempts
from api.access.session_values import read_session, sign_session
from api.access.sessions import FILE, SessionSecret, refuse_foreign_page, refuse_unknown_page
from core.errors import InvalidSettings, RateLimited, Unavailable
from core.settings import ApiSettings

_SECRET, _HASH = b"s" * 32, hashlib.sha256(b"a key").hexdigest()
_END = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
_ID = "0123456789ab"


@pytest.mark.parametrize("id", [_ID, OF_SETTINGS])
def test_a_signed_value_is_read_back(id: str) -> None:
    text = sign_session(_SECRET, id, _HASH, _END + timedelta(microseconds=7))
    value = read_session(text)
    assert value is not None
    assert (value.key, value.expires_at) == (id, _END)
    assert value.is_signed(_SECRET, _HASH)
    assert not value.is_signed(b"t" * 32, _HASH)
    assert not value.is_signed(_SECRET, _HASH[::-1])
    assert _HASH not in text
    assert sign_session(_SECRET, id, _HASH, _END) != text, "each has a nonce"


def test_no_part_of_a_value_can_be_changed() -> None:
    text = sign_session(_SECRET, _ID, _HASH, _END)
    for at, character in enumerate(text):
        for other in {"0", "1", "A", "b", "."} - {character}:
            value = read_session(text[:at] + other + text[at + 1 :])
            assert value is None or not value.is_signed(_SECRET, _HASH), (at, other)
    parts = text.split(".")
    later = ".".join([*parts[:2], str(int(parts[2]) + 1), *parts[3:]])
    value = read_session(later)
    assert value is not None
    assert not value.is_signed(_SECRET, _HASH)


_STAMP = str(int(_END.timestamp()))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:0],
        lambda text: text[:-1],
        lambda text: text[1:],
        lambda text: text + "\n",
        lambda text: text + "=",
        lambda text: text.replace("1.", "2.", 1),
        lambda text: text.replace(_ID, "..%2f"),
        lambda text: text.replace(_ID, _ID.upper()),
        lambda text: text.replace(_STAMP, "9" * 12),
        lambda text: text.replace(_STAMP, "١٢٣"),
        lambda text: "." * len(text),
    ],
)
def test_other_texts_are_no_sessions(change: Callable[[str], str]) -> None:
    assert read_session(change(sign_session(_SECRET, _ID, _HASH, _END))) is None
    latest = read_session(sign_session(_SECRET, _ID, _HASH, _END).replace(_STAMP, "9" * 11))
    assert latest is not None
    assert latest.expires_at.year > 5000, "the latest end that a value can name is a time"


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


async def test_the_secret_is_of_the_settings_or_of_a_file(tmp_path: Path) -> None:
    given = SessionSecret("g" * 32, tmp_path)
    assert await given.make() == await given.read() == b"g" * 32
    assert _names(tmp_path) == []
    own = SessionSecret("", tmp_path / "data")
    assert await own.read() is None
    secret = await own.make()
    assert await own.read() == await SessionSecret("", tmp_path / "data").read() == secret
    assert _mode(tmp_path / "data" / FILE) == 0o600
    assert _names(tmp_path / "data") == [FILE]


async def test_processes_that_make_it_at_once_have_the_same(tmp_path: Path) -> None:
    secrets = [SessionSecret("", tmp_path) for _ in range(32)]
    assert len(set(await asyncio.gather(*(secret.make() for secret in secrets)))) == 1
    assert _names(tmp_path) == [FILE]


async def test_a_secret_that_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("short\n")
    with pytest.raises(InvalidSettings, match="delete it, and a new one is made"):
        await SessionSecret("", tmp_path).read()
    (tmp_path / "data").write_text("a file")
    with pytest.raises(Unavailable, match="HOPWEAVE_API__SESSION_SECRET"):
        await SessionSecret("", tmp_path / "data").make()
    for secret in ("short", "x" * 31):
        with pytest.raises(ValueError, match="at least 32 characters"):
            ApiSettings.model_validate({"session_secret": secret})
    for address in ("search.example", "ftp://search.example", "https://", "https://a b"):
        with pytest.raises(ValueError, match=r"such as https://search\.example"):
            ApiSettings(public_url=address)


_HOST = {"host": "search.example:8000"}
_OWN = "http://search.example:8000"
_PUBLIC = "https://docs.example/hopweave"


@pytest.mark.parametrize(
    ("method", "scheme", "headers", "is_own"),
    [
        ("GET", "http", {"sec-fetch-site": "same-origin"}, True),
        ("POST", "http", {"sec-fetch-site": "same-origin", "origin": _OWN}, True),
        ("POST", "http", {"sec-fetch-site": "same-origin"}, True),
        ("POST", "http", {"origin": _OWN.upper()}, True),
        ("POST", "https", {"origin": "https://search.example:8000"}, True),
        ("POST", "http", {"origin": "https://search.example:8000"}, True),
        ("POST", "http", {"origin": "https://docs.example"}, True),
        ("GET", "http", {"referer": f"{_OWN}/c/people?chunk=1"}, True),
        ("GET", "http", {"referer": "https://docs.example/c/people"}, True),
        ("HEAD", "http", {"referer": f"{_OWN}/"}, True),
        ("GET", "http", {}, False),
        ("POST", "http", {}, False),
        ("POST", "http", {"referer": f"{_OWN}/"}, False),
        ("DELETE", "http", {"referer": f"{_OWN}/"}, False),
        ("GET", "http", {"sec-fetch-site": "none"}, False),
        ("GET", "http", {"sec-fetch-site": "same-site"}, False),
        ("GET", "http", {"sec-fetch-site": "cross-site", "referer": f"{_OWN}/"}, False),
        ("GET", "http", {"sec-fetch-site": ""}, False),
        ("GET", "http", {"referer": "http://search.example:3000/"}, False),
        ("GET", "http", {"referer": "http://search.example:8000.evil.example/"}, False),
        ("GET", "http", {"referer": "http://evil.example/http://search.example:8000/"}, False),
        ("GET", "http", {"referer": "http://[/"}, False),
        ("POST", "http", {"origin": "null"}, False),
        ("POST", "http", {"origin": "http://search.example:3000"}, False),
        ("POST", "http", {"origin": "https://evil.example", "sec-fetch-site": "same-origin"}, False),
        ("POST", "https", {"origin": _OWN}, False),
        ("GET", "https", {"referer": f"{_OWN}/"}, False),
    ],
)
def test_pages_of_this_server(method: str, scheme: str, headers: dict[str, str], *, is_own: bool) -> None:
    scope = {"type": "http", "method": method, "scheme": scheme}
    sent = Headers({**_HOST, **headers})
    assert (refuse_unknown_page(scope, sent, _PUBLIC) is None) is is_own
    if is_own:
        assert refuse_foreign_page(scope, sent, _PUBLIC) is None


def test_a_program_is_no_foreign_page() -> None:
    scope = {"type": "http", "method": "POST", "scheme": "http"}
    assert refuse_foreign_page(scope, Headers(_HOST), "") is None
    assert "HOPWEAVE_API__PUBLIC_URL" in str(refuse_foreign_page(scope, Headers({**_HOST, "origin": "http://a"}), ""))


def _show_wrong(counted: Attempts, address: str) -> None:
    assert counted.judge(address, "wrong", guessable=False) == "wrong"


def test_wrong_keys_of_an_address_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(attempts_module.time, "monotonic", lambda: now)
    counted = Attempts()
    for number in range(MOST):
        _show_wrong(counted, f"2001:db8::{number:x}")
    with pytest.raises(RateLimited, match="try again in 60 seconds") as caught:
        _show_wrong(counted, "2001:db8::ffff")
    assert caught.value.retry_after == 60
    _show_wrong(counted, "2001:db8:0:1::1")
    _show_wrong(counted, "192.0.2.1")
    now += 60
    _show_wrong(counted, "2001:db8::1")


def test_a_right_key_is_accepted_all_the_same_unless_it_might_be_guessed() -> None:
    counted = Attempts()
    for _ in range(MOST):
        _show_wrong(counted, "192.0.2.1")
    assert counted.judge("192.0.2.1", KEYLESS, guessable=False) is KEYLESS
    with pytest.raises(RateLimited):
        counted.judge("192.0.2.1", KEYLESS, guessable=True)
    assert counted.judge("192.0.2.2", KEYLESS, guessable=True) is KEYLESS


def test_an_address_of_version_4_is_the_same_in_version_6() -> None:
    counted = Attempts()
    for _ in range(MOST):
        _show_wrong(counted, "::ffff:192.0.2.1")
    with pytest.raises(RateLimited):
        _show_wrong(counted, "192.0.2.1")
    _show_wrong(counted, "192.0.2.2")


def test_addresses_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts_module, "_ADDRESSES", 4)
    counted = Attempts()
    for number in range(20):
        _show_wrong(counted, f"192.0.2.{number}")
    assert len(counted._wrong) == 4
    _show_wrong(counted, "a socket")
