"""Tokens of an identity provider: which are accepted, what their holders see, and what the issuer can do wrong."""

import base64
import hmac
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from pydantic import SecretStr, ValidationError

from api.access.issuer import IssuerKeys
from api.access.keys import Caller
from api.access.tokens import Tokens
from app.container import Container
from core.errors import Unavailable
from core.ids import document_id
from core.settings import ApiSettings, OidcSettings, Settings
from tests.integration.api.access.conftest import GROUPED, Holder
from tests.integration.api.access.issuer import AUDIENCE, Issuer
from tests.integration.api.conftest import Server
from tests.twins.embedder import TwinEmbedder

_OWN = "the-key-of-the-operator"
_DOCUMENTS = "/v1/corpora/people/documents"
_RULES = [
    {"claim": "groups", "values": ["operators"], "scopes": ["admin"]},
    {"claim": "groups", "values": ["editors"], "scopes": ["read", "write"], "corpora": ["people"]},
    {"claim": "tenant", "values": ["ours"], "scopes": ["read"]},
    {"claim": "groups", "values": ["a", "b"], "scopes": ["read"], "corpora": ["people"]},
]


@pytest.fixture
async def server(tmp_path: Path, issuer: Issuer) -> AsyncIterator[Server]:
    named = {"issuer": issuer.url, "audience": AUDIENCE, "rules": _RULES, "requested_scopes": ["openid"]}
    api = ApiSettings(keys=[SecretStr(_OWN)], public_url="https://hopweave.example")
    container = Container(Settings(data_dir=tmp_path, api=api, oidc=OidcSettings.model_validate(named)))
    container.embedder = TwinEmbedder()
    made = Server(container)
    made.client.headers["authorization"] = f"Bearer {_OWN}"
    await made.corpus()
    await made.corpus("other")
    await made.ingest(*GROUPED)
    yield made
    await made.app.state.issuer_keys.close()
    await made.close()


async def _ask(server: Server, token: str, path: str = _DOCUMENTS, method: str = "GET", **more: Any) -> httpx.Response:
    holder = Holder(server, token)
    if not token:
        del holder.client.headers["authorization"]
    try:
        return await holder(method, path, **more)
    finally:
        await holder.client.aclose()


async def _seen(server: Server, token: str) -> set[str]:
    answer = await _ask(server, token)
    assert answer.status_code == 200, answer.text
    return {one["key"] for one in answer.json()["data"]}


async def test_subject_and_groups_are_principals(server: Server, issuer: Issuer) -> None:
    assert await _seen(server, issuer.sign()) == {"a", "anna", "all"}
    assert await _seen(server, issuer.sign(sub="bob", groups=["b"])) == {"b", "all"}
    assert await _seen(server, issuer.sign(sub="bob", groups="b")) == {"b", "all"}, "one group may be a text"
    assert await _seen(server, issuer.sign(sub="bob", groups=["b", " x", 7, "a\n"])) == {"b", "all"}
    assert await _seen(server, issuer.sign(aud=["other", AUDIENCE])) == {"a", "anna", "all"}
    assert issuer.asked["/keys"] == 1, "the keys are kept"
    found = await _ask(server, issuer.sign(), f"{_DOCUMENTS}/{document_id('b')}")
    assert found.status_code == 404
    for typ in ("JWT", "at+jwt", "application/at+JWT"):
        assert await _seen(server, issuer.sign(typ=typ)) == {"a", "anna", "all"}, "types that give access"


async def test_an_address_that_is_not_verified_names_nobody(issuer: Issuer) -> None:
    settings = {"issuer": issuer.url, "audience": AUDIENCE, "user_claim": "email"}
    keys = IssuerKeys(OidcSettings.model_validate(settings))
    tokens = Tokens(OidcSettings.model_validate(settings), keys)
    try:
        for verified, is_accepted in ((True, True), (None, True), (False, False), ("false", False)):
            found = await tokens.find(issuer.sign(email="anna@example.org", email_verified=verified))
            if is_accepted:
                assert isinstance(found, Caller)
                assert found.access.principals == {"user:anna@example.org", "group:a"}
            else:
                assert found == "the address of the holder is not verified (`email_verified`)"
    finally:
        await keys.close()


async def test_the_first_rule_that_fits_gives_scopes_and_corpora(server: Server, issuer: Issuer) -> None:
    new = {"documents": [{"key": "new", "text": "New.", "access": ["user:anna"]}]}
    for claims, reads, writes, sees_other, makes in (
        ({"groups": ["operators", "a"]}, 200, 202, 200, 201),
        ({"groups": ["a", "editors"]}, 200, 202, 404, 403),
        ({"groups": [], "tenant": "ours"}, 200, 403, 200, 403),
        ({"groups": ["a"]}, 200, 403, 404, 403),
        ({"groups": ["none"]}, 401, 401, 401, 401),
        ({"groups": None}, 401, 401, 401, 401),
    ):
        token = issuer.sign(**claims)
        assert (await _ask(server, token)).status_code == reads, claims
        assert (await _ask(server, token, method="POST", json=new)).status_code == writes, claims
        assert (await _ask(server, token, "/v1/corpora/other")).status_code == sees_other, claims
        body = {"name": "made"}
        assert (await _ask(server, token, "/v1/corpora", "POST", json=body)).status_code == makes, claims
    assert await _seen(server, issuer.sign(groups=["operators"])) >= {"a", "anna", "b", "all"}, "admin sees all"


async def test_tokens_that_are_not_accepted(server: Server, issuer: Issuer) -> None:
    now = int(time.time())
    stranger = RSAKey.generate_key(2048, {"kid": "one"})
    confused = _sign_with_public_key(issuer)
    head, body, signature = issuer.sign().split(".")
    changed = _encode({**issuer.claims(), "groups": ["operators"]})
    embedded = _encode({"alg": "RS256", "kid": "none", "jwk": stranger.as_dict(private=False)})
    for token, why in (
        (issuer.sign(key=stranger), "not signed by its issuer"),
        (confused, "not signed with an algorithm"),
        (f"{_encode({'alg': 'none', 'kid': 'one'})}.{body}.", "not signed with an algorithm"),
        (f"{_encode({'alg': 'RS256'})}.{body}.{signature}", "does not name the key"),
        (f"{embedded}.{body}.{signature}", "does not publish"),
        (f"{head}.{changed}.{signature}", "not signed by its issuer"),
        (f"{head}.{body}.", "not signed by its issuer"),
        (f"{head}.{body}.{signature[:-4]}AAAA", "not signed by its issuer"),
        (f"{_encode({'alg': 'RS512', 'kid': 'one'})}.{body}.{signature}", "another algorithm than its key"),
        (issuer.sign(typ="logout+jwt"), "of another type"),
        (issuer.sign(typ="application/secevent+jwt"), "of another type"),
        (issuer.sign(exp=now - 60), "has expired"),
        (issuer.sign(exp=None), "has no end"),
        (issuer.sign(exp="never"), "has no end"),
        (issuer.sign(nbf=now + 600), "not valid yet"),
        (issuer.sign(aud="another"), "another audience"),
        (issuer.sign(aud=["another"]), "another audience"),
        (issuer.sign(aud=None), "another audience"),
        (issuer.sign(iss="https://login.example"), "another issuer"),
        (issuer.sign(iss=f"{issuer.url}/"), "another issuer"),
        (issuer.sign(sub=None), "names no subject"),
        (issuer.sign(groups=[f"a{n}" for n in range(1001)] + ["a"]), "more than 1,000 groups"),
        (issuer.sign(more="x" * 16_000), "more than 16,000 characters"),
        ("eyJ.eyJ.eyJ", "not signed with an algorithm"),
        ("ey..", "not signed with an algorithm"),
    ):
        server.app.state.attempts._wrong.clear()  # ten wrong ones a minute are counted elsewhere
        answer = await _ask(server, token)
        assert answer.status_code == 401, (token, answer.text)
        assert why in answer.json()["detail"], (token, answer.text)
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert await _seen(server, issuer.sign()) == {"a", "anna", "all"}


def _encode(part: Any) -> str:
    return _to_base64(json.dumps(part).encode())


def _to_base64(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode().rstrip("=")


def _sign_with_public_key(issuer: Issuer) -> str:
    """Returns a token that is signed with what everybody knows, as a secret."""
    public = issuer.keys["one"].as_pem(private=False)
    signed = f"{_encode({'alg': 'HS256', 'kid': 'one'})}.{_encode(issuer.claims())}"
    return f"{signed}.{_to_base64(hmac.digest(public, signed.encode(), 'sha256'))}"


async def test_keys_rotate_and_are_fetched_again_seldom(server: Server, issuer: Issuer) -> None:
    keys = server.app.state.issuer_keys
    assert await _seen(server, issuer.sign()) == {"a", "anna", "all"}
    issuer.add_key("two")
    token = issuer.sign("two", alg="ES256")
    assert (await _ask(server, token)).status_code == 401, "it has asked just now"
    assert issuer.asked["/keys"] == 1
    keys._asked_at -= 60
    assert await _seen(server, token) == {"a", "anna", "all"}
    del issuer.keys["one"]
    for unknown in ("three", "four", "five"):
        assert (await _ask(server, token)).status_code == 200
        head = _encode({"alg": "ES256", "kid": unknown})
        assert (await _ask(server, f"{head}.{token.partition('.')[2]}")).status_code == 401
    assert issuer.asked["/keys"] == 2
    keys._asked_at -= 60
    six = f"{_encode({'alg': 'ES256', 'kid': 'six'})}.{token.partition('.')[2]}"
    assert (await _ask(server, six)).status_code == 401
    assert issuer.asked["/keys"] == 3


_WRONG_ANSWERS = (
    ("/keys", 500, b"{}"),
    ("/keys", 302, b""),
    ("/keys", 200, b"no JSON"),
    ("/keys", 200, b"[]"),
    ("/keys", 200, b'{"keys": 1}'),
    ("/keys", 200, b'{"keys": [' + b",".join([b"{}"] * 101) + b"]}"),
    ("/keys", 200, b'{"keys": [], "more": "' + b"x" * 1_100_000 + b'"}'),
    ("/.well-known/openid-configuration", 200, b'{"issuer": "https://other.example", "jwks_uri": "https://x"}'),
    ("/.well-known/openid-configuration", 200, b'{"issuer": "ISSUER", "jwks_uri": "http://keys.example"}'),
    ("/.well-known/openid-configuration", 404, b""),
)


async def test_an_issuer_that_answers_wrong_is_named(issuer: Issuer) -> None:
    for path, status, answer in _WRONG_ANSWERS:
        keys = IssuerKeys(OidcSettings(issuer=issuer.url, audience=AUDIENCE))
        issuer.answers[path] = (status, answer.replace(b"ISSUER", issuer.url.encode()))
        with pytest.raises(Unavailable, match=f"the keys of the issuer {issuer.url} cannot be read"):
            await keys.find("one")
        issuer.answers.clear()
        with pytest.raises(Unavailable, match="cannot be read"):  # it is not asked again at once
            await keys.find("one")
        keys._asked_at -= 60
        assert await keys.find("one")
        await keys.close()


async def test_an_issuer_that_cannot_be_reached_is_named() -> None:
    gone = "http://127.0.0.1:9"
    keys = IssuerKeys(OidcSettings(issuer=gone, audience=AUDIENCE))
    with pytest.raises(Unavailable, match=f"the keys of the issuer {gone} cannot be read"):
        await keys.find("one")
    await keys.close()


async def test_known_keys_are_used_while_the_issuer_is_gone_for_an_hour(server: Server, issuer: Issuer) -> None:
    keys = server.app.state.issuer_keys
    token = issuer.sign()
    assert await _seen(server, token) == {"a", "anna", "all"}
    issuer.answers["/keys"] = (500, b"")
    keys._asked_at -= 3500
    keys._fetched_at -= 3500
    assert await _seen(server, token) == {"a", "anna", "all"}
    keys._asked_at -= 3500
    keys._fetched_at -= 3500
    assert (await _ask(server, token)).status_code == 503


async def test_a_secret_among_published_keys_signs_nothing(server: Server, issuer: Issuer) -> None:
    secret = OctKey.generate_key(256, {"kid": "secret", "use": "sig", "alg": "HS256"})
    published = [issuer.keys["one"].as_dict(private=False), secret.as_dict(private=True), {"kid": "x", "kty": "?"}, 7]
    issuer.answers["/keys"] = (200, json.dumps({"keys": published}).encode())
    for alg in ("HS256", "RS256"):
        header = {"alg": "HS256", "kid": "secret"}
        token = jwt.encode(header, issuer.claims(), secret, algorithms=["HS256"])
        token = f"{_encode({**header, 'alg': alg})}.{token.partition('.')[2]}"
        assert (await _ask(server, token)).status_code == 401
    assert await _seen(server, issuer.sign()) == {"a", "anna", "all"}


async def test_a_client_finds_out_who_gives_tokens(server: Server, issuer: Issuer) -> None:
    root = "https://hopweave.example/.well-known/oauth-protected-resource"
    for path, metadata, resource in (
        (_DOCUMENTS, root, "https://hopweave.example"),
        ("/mcp", f"{root}/mcp", "https://hopweave.example/mcp"),
    ):
        answer = await _ask(server, "", path, "POST" if path == "/mcp" else "GET", json={})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}"'
        described = await _ask(server, "", metadata.removeprefix("https://hopweave.example"))
        assert described.json() == {
            "resource": resource,
            "resource_name": "Hopweave",
            "authorization_servers": [issuer.url],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["openid"],
        }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    listed = await _ask(server, issuer.sign(), "/mcp", "POST", json=body, headers=headers)
    assert "list_corpora" in listed.text
    assert (await server.client.get("/v1/corpora")).status_code == 200, "keys are accepted, too"


async def test_a_host_that_is_not_ours_is_not_repeated(tmp_path: Path, issuer: Issuer) -> None:
    oidc = OidcSettings(issuer=issuer.url, audience=AUDIENCE)
    api = ApiSettings(keys=[SecretStr(_OWN)], hosts=["Rag.example"])
    made = Server(Container(Settings(data_dir=tmp_path, api=api, oidc=oidc)))
    path = "/.well-known/oauth-protected-resource"
    for host in ("rag.example:8443", "localhost:1"):
        described = await _ask(made, "", path, headers={"host": host})
        assert described.json()["resource"] == f"https://{host}"
        refused = await _ask(made, "", _DOCUMENTS, headers={"host": host})
        assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="https://{host}{path}"'
    for host in ("evil.example", "rag.example.evil.example", "rag.example@evil.example", ""):
        for known in (path, f"{path}/mcp"):
            described = await _ask(made, "", known, headers={"host": host})
            assert described.status_code == 421
            assert "HOPWEAVE_API__PUBLIC_URL" in described.json()["detail"]
            assert "evil" not in described.text
        refused = await _ask(made, "", _DOCUMENTS, headers={"host": host})
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    await made.app.state.issuer_keys.close()
    await made.close()


async def test_questions_belong_to_the_subject(server: Server, issuer: Issuer) -> None:
    path = "/v1/corpora/people/questions"
    made = await _ask(server, issuer.sign(), path, "POST", json={"question": "For whom?", "reasoner": "extractive"})
    assert made.status_code == 202, made.text
    id = made.json()["id"]
    assert (await _ask(server, issuer.sign(groups=["a", "b"]), f"{path}/{id}")).status_code == 200, "a later token"
    assert (await _ask(server, issuer.sign(sub="bob"), f"{path}/{id}")).status_code == 404


_ISSUER = {"issuer": "https://login.example", "audience": "x"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"issuer": "https://login.example"}, "give the `audience`"),
        ({"issuer": "http://login.example", "audience": "x"}, "is not over HTTPS"),
        ({**_ISSUER, "jwks_url": "http://login.example/k"}, "not over HTTPS"),
        ({"issuer": "login", "audience": "x"}, "it takes an address"),
        ({**_ISSUER, "rules": [{"scopes": []}]}, "at least 1 item"),
        ({**_ISSUER, "rules": [{"scopes": ["all"]}]}, "Input should be"),
        ({"client_id": "x"}, "is one of an `issuer`"),
        ({**_ISSUER, "client_id": "x", "client_scopes": ["email"]}, "`openid`"),
    ],
)
def test_settings_that_are_not_safe_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        OidcSettings.model_validate(settings)


async def test_a_server_without_an_issuer_accepts_no_token(tmp_path: Path, issuer: Issuer) -> None:
    container = Container(Settings(data_dir=tmp_path, api=ApiSettings(keys=[SecretStr(_OWN)])))
    made = Server(container)
    answer = await _ask(made, issuer.sign(), "/v1/corpora")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"')
    assert (await made.client.get("/.well-known/oauth-protected-resource")).status_code == 404
    await made.close()
