"""A job tells how many documents it has, and how many bytes and passages these have. So a key with a filter sees only
the jobs that it submitted.
"""

from typing import Any

from api.cursors import encode_cursor
from core.ids import document_id
from core.keys import Scope
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT, Holder, Keys

_ALL = (Scope.READ, Scope.WRITE, Scope.EXPORT)
_OPEN = {"team": "open"}
_BASE = "/v1/corpora/people/documents"


async def _submit(holder: Holder, key: str, **more: Any) -> Any:
    document = {"key": key, "text": f"Some text of {key}.", "metadata": _OPEN}
    answer = await holder("POST", _BASE, json={"documents": [document]}, **more)
    assert answer.status_code == 202, answer.text
    return answer.json()["job"]


async def _list(holder: Holder, **where: str) -> list[str]:
    return [job["id"] for job in (await holder("GET", "/v1/jobs", params=where)).json()["data"]]


async def test_the_jobs_of_others_are_not_there(keys: Keys) -> None:
    holder, other, everything = [await keys.make(*_ALL, where=where) for where in (_OPEN, _OPEN, None)]
    others = await _list(everything)
    others.append((await _submit(other, "open/others"))["id"])
    others.append((await _submit(everything, "open/of-all"))["id"])
    assert len(others) > 4
    assert await _list(holder) == await _list(holder, corpus="people") == []
    missing = await holder("GET", "/v1/jobs/unknown")
    for job in others:
        for method, call in (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/resume")):
            answer = await holder(method, f"/v1/jobs/{job}{call}")
            assert (answer.status_code, answer.json()["title"]) == (404, missing.json()["title"]), (method, call)
            assert answer.json()["detail"] == missing.json()["detail"].replace("unknown", job)
        cursor = encode_cursor(job, "jobs", None, None, None)
        assert (await holder("GET", "/v1/jobs", params={"cursor": cursor})).status_code == 404


async def test_its_own_jobs_are_there_whatever_they_do(keys: Keys) -> None:
    holder, everything = await keys.make(*_ALL, where=_OPEN), await keys.make(*_ALL)
    jobs = [await _submit(holder, "open/new")]
    await keys.server.work("people")
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", f"{_BASE}/{document_id('open/new')}", {"json": {"title": "New"}}),
        ("PATCH", f"{_BASE}/{document_id('open/new')}", {"json": {"enabled": False}}),
        ("POST", f"{_BASE}/delete", {"json": {"keys": ["open/new", HIDDEN_DOCUMENT["key"]]}}),
        ("DELETE", f"{_BASE}/{document_id('open/ada')}", {}),
    ]
    for method, path, more in changes:
        answer = await holder(method, path, **more)
        assert answer.status_code == 202, answer.text
        jobs.append(answer.json()["job"])
    ids = [job["id"] for job in reversed(jobs)]
    assert await _list(holder) == ids
    assert (await holder("GET", f"/v1/jobs/{ids[-1]}")).json()["counts"] == {"indexed": 1}
    assert set(ids) < set(await _list(everything))
    again = await holder("DELETE", f"{_BASE}/{document_id('open/ada')}")
    assert again.json()["job"]["id"] == ids[0]
    assert (await everything("DELETE", f"{_BASE}/{document_id('hidden/broken')}")).status_code == 202
    assert (await holder("DELETE", f"{_BASE}/{document_id('hidden/broken')}")).status_code == 404


async def test_its_own_jobs_can_be_cancelled_and_name_what_failed(keys: Keys) -> None:
    holder = await keys.make(*_ALL, where=_OPEN)
    job = await _submit(holder, "open/new")
    cancelled = await holder("POST", f"/v1/jobs/{job['id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["counts"]) == (200, {"cancelled": 1})
    assert (await holder("POST", f"/v1/jobs/{job['id']}/resume")).status_code == 409
    retried = await holder("POST", f"{_BASE}/{document_id('open/new')}/retry")
    assert retried.json()["job"]["id"] in await _list(holder)
    broken = {"key": "open/broken", "media_type": "application/pdf", "text": "no PDF", "metadata": _OPEN}
    failing = (await holder("POST", _BASE, json={"documents": [broken]})).json()["job"]
    await keys.server.work("people")
    failures = (await holder("GET", f"/v1/jobs/{failing['id']}")).json()["failures"]
    assert [failure["key"] for failure in failures] == ["open/broken"]


async def test_a_request_that_another_key_sent_before_is_another_request(keys: Keys) -> None:
    first, second = [await keys.make(*_ALL, where=_OPEN) for _ in range(2)]
    once = {"headers": {"Idempotency-Key": "one"}}
    job = await _submit(first, "open/new", **once)
    assert (await _submit(first, "open/new", **once))["id"] == job["id"]
    other = await _submit(second, "open/new", **once)
    assert other["id"] != job["id"]
    assert (await _list(first), await _list(second)) == ([job["id"]], [other["id"]])
    moved = (await first("GET", f"/v1/jobs/{job['id']}")).json()
    assert moved["counts"] == {}, "the document is in the job of the key that sent it last"


async def test_a_request_is_that_of_its_key_however_the_header_is_written(keys: Keys) -> None:
    holder = await keys.make(*_ALL, where=_OPEN)
    shown = holder.client.headers["authorization"]
    job = await _submit(holder, "open/new", headers={"Idempotency-Key": "one"})
    lower = {"Idempotency-Key": "one", "authorization": shown.replace("Bearer ", "bearer   ")}
    assert (await _submit(holder, "open/new", headers=lower))["id"] == job["id"]


async def test_the_jobs_of_a_revoked_key_stay_readable_without_a_filter(keys: Keys) -> None:
    holder = await keys.make(*_ALL, where=_OPEN)
    job = await _submit(holder, "open/new")
    await keys.server.container.record.keys.revoke(keys.last.id)
    await keys.see()
    assert (await holder("GET", f"/v1/jobs/{job['id']}")).status_code == 401
    for scope in (Scope.READ, Scope.ADMIN):
        assert (await (await keys.make(scope))("GET", f"/v1/jobs/{job['id']}")).status_code == 200
