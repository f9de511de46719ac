"""Keys of the record: when they are accepted, and what they may use."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.errors import InvalidInput, Unavailable
from core.keys import KeyLimits, Scope, hash_key, id_of_key, make_key, matches_hash
from core.settings import ApiSettings
from tests.integration.api.access.conftest import OPEN_DOCUMENT, Holder, Keys
from tests.integration.api.asgi import make_scope
from tests.integration.api.asking import KEY, asking
from tests.integration.api.conftest import MakeServer
from tests.twins.chat_server import ChatServer


async def test_from_the_first_key_on_every_request_needs_one(keys: Keys) -> None:
    assert (await keys.server.client.get("/v1/corpora")).status_code == 200
    holder = await keys.make(Scope.READ)
    assert (await holder("GET", "/v1/corpora")).status_code == 200
    refused = await keys.server.client.get("/v1/corpora")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    await keys.server.container.record.keys.revoke(keys.last.id)
    await keys.see()
    assert (await holder("GET", "/v1/corpora")).status_code == 401
    assert (await keys.server.client.get("/v1/corpora")).status_code == 401, "its end must not open the server"
    await keys.server.container.record.keys.delete(keys.last.id)
    await keys.see()
    assert (await keys.server.client.get("/v1/corpora")).status_code == 200


async def test_of_two_keys_in_one_request_none_counts(keys: Keys) -> None:
    """A proxy may have checked the one, and this server would take the other."""
    holder = await keys.make(Scope.READ)
    shown = holder.client.headers["authorization"]
    for other in ("Bearer none", shown):
        for both in ([shown, other], [other, shown]):
            sent = [("authorization", one) for one in both]
            assert (await keys.server.client.get("/v1/corpora", headers=sent)).status_code == 401


async def test_a_revoked_key_ends_within_seconds_in_other_processes(make_server: MakeServer) -> None:
    """Two servers on one folder, of which none is told."""
    first, second = await make_server(), await make_server()
    key, text = make_key("a", [Scope.READ])
    await first.container.record.keys.create(key)
    holders = [Holder(server, text) for server in (first, second)]
    try:
        assert [(await holder("GET", "/v1/corpora")).status_code for holder in holders] == [200, 200]
        await second.container.record.keys.revoke(key.id)
        async with asyncio.timeout(120):
            for holder in holders:
                while (await holder("GET", "/v1/corpora")).status_code == 200:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.1)
    finally:
        for holder in holders:
            await holder.client.aclose()


async def test_keys_that_are_refused_and_what_is_told(keys: Keys) -> None:
    await keys.make(Scope.READ)
    record = keys.server.container.record.keys
    ended, text_of_ended = make_key("b", [Scope.READ], expires_at=datetime.now(UTC) + timedelta(milliseconds=1))
    revoked, text_of_revoked = make_key("d", [Scope.READ])
    other, foreign = make_key("c", [Scope.READ])
    for key in (ended, revoked):
        await record.create(key)
    await record.revoke(revoked.id)
    await keys.see()
    await asyncio.sleep(0.01)

    async def refuse(shown: str) -> str:
        answer = await keys.server.client.get("/v1/corpora", headers={"authorization": shown})
        assert answer.status_code == 401, shown
        return str(answer.json()["detail"])

    assert "no key was shown" in await refuse("")
    assert "has expired" in await refuse(f"Bearer {text_of_ended}"), "who has the secret is told, and nobody else"
    unknown = await refuse(f"Bearer {foreign}")
    assert "none of this server's, or is revoked" in unknown
    mixed = f"hw_{keys.last.id}_{foreign.rpartition(f'{other.id}_')[2]}"
    of_ended = f"hw_{ended.id}_{foreign.rpartition(f'{other.id}_')[2]}"
    for text in (text_of_revoked, mixed, of_ended, f"hw_{keys.last.id}_", keys.last.hash, keys.last.id):
        assert await refuse(f"Bearer {text}") == unknown, text


async def test_keys_of_the_settings_may_do_everything(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings.model_validate({"keys": ["sekret"]}))
    holder = Holder(server, "sekret")
    assert (await holder("POST", "/v1/corpora", json={"name": "a"})).status_code == 201
    assert (await holder("GET", "/v1/corpora/a/export")).status_code == 200
    await holder.client.aclose()


def test_a_key_is_random_and_only_its_hash_is_known() -> None:
    (one, first), (_, second) = (make_key("a", [Scope.READ]) for _ in range(2))
    assert len(first) >= 12 + 43
    assert first != second
    assert id_of_key(first) == one.id
    assert one.hash == hash_key(first)
    assert matches_hash(first, one.hash)
    assert not matches_hash(second, one.hash)
    assert id_of_key(first + "\n") is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scopes": []}, "at least one scope"),
        ({"name": "\x1b[1m"}, "printable"),
        ({"corpora": []}, "at least one corpus"),
        ({"corpora": ["../x"]}, "corpus name"),
        ({"filter": {"a": {"$foo": 1}}}, "unknown operator"),
        ({"filter": {"a": 1}, "scopes": [Scope.ADMIN]}, "cannot have the scope admin"),
    ],
)
def test_keys_that_cannot_be(values: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make_key(**{"name": "a", "scopes": [Scope.READ], **values})  # type: ignore[arg-type] # wrong values on purpose


async def test_requests_in_a_minute(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, limits=KeyLimits(requests=3))
    answers = [await holder("GET", "/v1/corpora") for _ in range(5)]
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(429) >= 1  # a minute may begin in between
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert "requests of this minute" in refused.json()["detail"]
    unlimited = await keys.make(Scope.READ)
    assert (await unlimited("GET", "/v1/corpora")).status_code == 200


async def test_a_limit_holds_over_processes(make_server: MakeServer) -> None:
    first, second = await make_server(), await make_server()
    key, text = make_key("a", [Scope.READ], limits=KeyLimits(requests=10))
    await first.container.record.keys.create(key)
    holders = [Holder(server, text) for server in (first, second)]
    for _ in range(12):
        await holders[0]("GET", "/v1/corpora")
    first.app.state.ledger._synced_at = 0.0  # a second passes
    await holders[0]("GET", "/v1/corpora")
    assert (await holders[1]("GET", "/v1/corpora")).status_code == 429
    for holder in holders:
        await holder.client.aclose()


async def test_bytes_of_documents_in_a_minute(keys: Keys) -> None:
    holder = await keys.make(Scope.WRITE, limits=KeyLimits(ingest_bytes=1000))

    async def add(size: int) -> httpx.Response:
        return await holder("POST", "/v1/corpora/people/documents", json={"documents": [{"text": "a" * size}]})

    assert (await add(600)).status_code == 202
    assert {(await add(601)).status_code, (await add(602)).status_code} & {429}
    large = await add(1200)
    assert large.status_code == 413
    assert "send less" in large.json()["detail"]


async def test_tokens_in_a_minute(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, limits=KeyLimits(tokens=100))
    question = {"question": "Who wrote the first program?"}
    assert (await holder("POST", "/v1/corpora/people/ask", json=question)).status_code == 200
    app = keys.server.app
    caller = app.state.keyring._known[keys.last.id]
    app.state.ledger._pending[caller.id] += type(app.state.ledger._pending[caller.id])(tokens=100)
    refused = await holder("POST", "/v1/corpora/people/ask", json=question)
    assert refused.status_code == 429
    assert "tokens of models" in refused.json()["detail"]
    assert (await holder("POST", "/v1/corpora/people/search", json={"query": "program"})).status_code == 200


async def test_tokens_of_a_searcher_in_a_minute(tmp_path: Path) -> None:
    """A search whose searcher asks a model is refused before its first call, also where another searcher wraps it."""
    with ChatServer(api_key=KEY) as chat:
        async with asking(tmp_path, chat) as server:
            await server.corpus("facts", extractor="given", chunker="passage", fine="on")
            await server.ingest(OPEN_DOCUMENT, corpus="facts")
            keys = Keys(server)
            holder = await keys.make(Scope.READ, limits=KeyLimits(tokens=100))
            path, body = "/v1/corpora/facts/search", {"query": "Ada Lovelace", "searcher": "hippo"}
            assert (await holder("POST", path, json=body)).status_code == 502, "its reply cannot be read"
            called = len(chat.calls)
            assert called
            refused = await holder("POST", path, json=body)
            assert (refused.status_code, "tokens of models" in refused.json()["detail"]) == (429, True)
            assert len(chat.calls) == called
            assert (await holder("POST", path, json={**body, "searcher": "dense"})).status_code == 200
            await holder.client.aclose()


async def test_caps_of_the_settings(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(max_k=5, max_depth=2, max_history=1))
    await server.corpus()
    turns = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada."}]
    calls = [
        ("POST", "search", {"json": {"query": "a", "k": 6}}, "MAX_K"),
        ("POST", "ask", {"json": {"question": "a", "k": 6}}, "MAX_K"),
        ("POST", "ask", {"json": {"question": "a", "history": turns}}, "MAX_HISTORY"),
        ("GET", "entities/0/neighbourhood", {"params": {"depth": 3}}, "MAX_DEPTH"),
    ]
    for method, path, more, setting in calls:
        answer = await server.client.request(method, f"/v1/corpora/people/{path}", **more)
        assert answer.status_code == 422, path
        assert f"HOPWEAVE_API__{setting}" in answer.json()["detail"]


async def _begin_job(keys: Keys, holder: Holder) -> tuple[asyncio.Task[str], str]:
    """Returns the stream of a job that is not done yet, after its first piece, and its path."""
    queued = await holder("POST", "/v1/corpora/people/documents", json={"documents": [{"text": "never indexed"}]})
    path, begun = f"/v1/jobs/{queued.json()['job']['id']}/events", asyncio.Event()
    stream = asyncio.create_task(_follow(keys, holder, path, begun))
    await begun.wait()
    return stream, path


async def _begin_export(keys: Keys, holder: Holder) -> tuple[asyncio.Task[str], asyncio.Event]:
    """Returns an export after its first piece, and what lets it go on."""
    begun, goes_on = asyncio.Event(), asyncio.Event()
    export = asyncio.create_task(_follow(keys, holder, "/v1/corpora/people/export", begun, goes_on))
    await begun.wait()
    return export, goes_on


def _allow_one_stream(keys: Keys) -> Any:
    guard: Any = keys.server.app.middleware_stack
    while type(guard).__name__ != "Guard":
        guard = getattr(guard, "_app", None) or guard.app
    guard._settings = ApiSettings(max_streams=1)
    return guard


async def test_streams_of_one_key_at_once(keys: Keys) -> None:
    """A stream beyond the limit is refused before its first byte; one that ends makes room."""
    holder = await keys.make(Scope.READ, Scope.WRITE)
    guard = _allow_one_stream(keys)
    open_now, path = await _begin_job(keys, holder)
    refused = await holder("GET", path)
    assert (refused.status_code, "HOPWEAVE_API__MAX_STREAMS" in refused.json()["detail"]) == (429, True)
    await keys.server.work("people")
    assert "event: end" in await open_now
    assert (await holder("GET", path)).status_code == 200
    assert not guard._streams


async def test_a_stream_ends_with_its_key(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, Scope.WRITE)
    stream, _ = await _begin_job(keys, holder)
    await keys.server.container.record.keys.revoke(keys.last.id)
    await keys.see()
    await keys.server.work("people")  # makes an event, at which the stream is cut off
    assert "event: end" not in await stream


async def test_an_export_ends_with_its_key_and_counts_among_its_streams(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, Scope.EXPORT)
    _allow_one_stream(keys)
    export, goes_on = await _begin_export(keys, holder)
    refused = await holder("GET", "/v1/corpora/people/export")
    assert (refused.status_code, "HOPWEAVE_API__MAX_STREAMS" in refused.json()["detail"]) == (429, True)
    assert (await holder("GET", "/v1/corpora")).status_code == 200
    await keys.server.container.record.keys.revoke(keys.last.id)
    await keys.see()
    goes_on.set()
    assert not (await export).endswith(_END)


async def test_a_stream_ends_with_its_key_in_a_process_that_has_nothing_else_to_do(keys: Keys) -> None:
    """No other request has read the keys since; they are read before the next piece. While they cannot be read, a
    stream goes on.
    """
    holder = await keys.make(Scope.EXPORT)
    keyring = keys.server.app.state.keyring
    unread, goes_on = await _begin_export(keys, holder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyring, "_keys", _Away)
        keyring._read_at -= 60.0
        goes_on.set()
        assert (await unread).endswith(_END)
    export, goes_on = await _begin_export(keys, holder)
    await keys.server.container.record.keys.revoke(keys.last.id)
    keyring._read_at -= 60.0
    goes_on.set()
    assert not (await export).endswith(_END)


class _Away:
    async def list(self) -> None:
        raise Unavailable("the record does not answer")


_END = "(the end)"


async def _follow(
    keys: Keys, holder: Holder, path: str, begun: asyncio.Event, goes_on: asyncio.Event | None = None
) -> str:
    """Calls the application itself: httpx' transport gives no response before its end. A response that is not cut off
    ends with `_END`. After the first piece, no other is taken before `goes_on`.
    """
    received = b""
    key, asked = holder.client.headers["authorization"].encode(), 0

    async def receive() -> dict[str, object]:
        nonlocal asked
        asked += 1
        if asked == 1:
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, object]) -> None:
        nonlocal received
        received += message.get("body", b"")  # type: ignore[operator] # bytes
        if received:
            begun.set()
            await goes_on.wait() if goes_on else None
        if message["type"] == "http.response.body" and not message.get("more_body"):
            received += _END.encode()

    scope = make_scope(path, headers=[(b"authorization", key)], client="192.0.2.7")
    await keys.server.app(scope, receive, send)
    return received.decode()
