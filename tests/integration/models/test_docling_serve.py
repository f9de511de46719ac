"""The client of docling-serve over HTTP: a file is sent and fetched, and each failure is named with what to do."""

import threading
import time
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from app.doctor.installation import _examine_docling
from core.errors import LoadFailed, Unavailable
from core.ports.indexing import Source
from core.settings import DoclingSettings
from models import docling_serve
from models.docling_serve import DoclingServe
from tests.twins.docling_server import DoclingServer

_KEY = "secret-key"


def source(content: bytes = b"%PDF-", key: str = "reports/q1 ü.pdf") -> Source:
    return Source(key=key, content=content, media_type="application/pdf", title=None, metadata={})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DoclingServer]:
    monkeypatch.setattr(docling_serve, "_PAUSES", (0.01,))
    with DoclingServer(b'{"status": "success"}', key=_KEY) as server:
        yield server


_made: list[DoclingServe] = []


@pytest.fixture(autouse=True)
def close_clients() -> Iterator[None]:
    yield
    while _made:
        _made.pop().close()


def client(server: DoclingServer, *, key: str = _KEY, seconds: float = 60.0, path: str = "") -> DoclingServe:
    url = f"{server.url}{path}"
    _made.append(DoclingServe(url=url, api_key=SecretStr(key), seconds=seconds, languages=("de", "en")))
    return _made[-1]


def test_a_file_is_sent_polled_and_fetched(server: DoclingServer) -> None:
    reply = client(server).convert(source(b"\x00\xff\r\n--x"), "pdf")
    assert reply == b'{"status": "success"}'
    [form] = server.forms
    assert form["filename"] == ["reports_q1__.pdf.pdf"]
    assert form["files"] == [b"\x00\xff\r\n--x".decode("latin-1")]
    assert form["to_formats"] == ["json"]
    assert form["from_formats"] == ["pdf"]
    assert form["image_export_mode"] == ["placeholder"]
    assert form["do_ocr"] == ["true"]
    assert form["ocr_lang"] == ["de", "en"]


def test_an_address_may_have_the_version_of_the_api(server: DoclingServer) -> None:
    assert client(server, path="/v1/").convert(source(), "pdf")


def test_a_wrong_key_is_named_and_not_shown(server: DoclingServer) -> None:
    with pytest.raises(LoadFailed, match=r"answered 401: .*; check HOPWEAVE_DOCLING__API_KEY, then retry") as error:
        client(server, key="another-key").convert(source(), "pdf")
    assert "another-key" not in str(error.value)


def test_a_file_that_docling_cannot_convert_fails_with_its_words(server: DoclingServer) -> None:
    server.statuses, server.error = ["pending", "failure"], f"broken {_KEY}"
    with pytest.raises(LoadFailed, match=r"'reports/q1 ü.pdf' cannot be read: .* failed on it \(broken \*\*\*\)"):
        client(server).convert(source(), "pdf")


def test_a_file_that_takes_too_long_fails_with_the_setting(server: DoclingServer) -> None:
    server.statuses = ["started"]
    with pytest.raises(LoadFailed, match=r"takes more than 0.05 seconds \(HOPWEAVE_DOCLING__SECONDS\)"):
        client(server, seconds=0.05).convert(source(), "pdf")


def test_a_busy_server_is_tried_again_later(server: DoclingServer) -> None:
    server.statuses = ["pending"]
    with pytest.raises(Unavailable, match=r"is busy: it did not begin with 'reports/q1 ü.pdf' within 0.05 seconds"):
        client(server, seconds=0.05).convert(source(), "pdf")


def test_a_task_that_is_lost_is_sent_once_more(server: DoclingServer) -> None:
    lost = [True]
    server.reply = lambda _, path: (404, b"{}", {}) if "poll" in path and lost and lost.pop() else None
    assert client(server).convert(source(), "pdf")
    assert len(server.forms) == 2


def test_a_file_that_ends_the_server_each_time_fails_alone(server: DoclingServer) -> None:
    server.reply = lambda _, path: (404, b"{}", {}) if "poll" in path else None
    with pytest.raises(LoadFailed, match=r"lost it 2 times"):
        client(server).convert(source(), "pdf")
    assert len(server.forms) == 2


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_is_overloaded_is_tried_again_later(server: DoclingServer, status: int) -> None:
    server.reply = lambda *_: (status, b"later", {})
    with pytest.raises(Unavailable, match=rf"answered {status}: later"):
        client(server).convert(source(), "pdf")


def test_a_server_that_restarts_is_waited_for(server: DoclingServer) -> None:
    failures = [503, 503]
    server.reply = lambda _, path: (failures.pop(), b"starting", {}) if "poll" in path and failures else None
    assert client(server).convert(source(), "pdf")
    assert len(server.forms) == 1


@pytest.mark.parametrize(("status", "setting"), [(404, "URL"), (405, "URL"), (403, "API_KEY")])
def test_a_wrong_address_is_named(server: DoclingServer, status: int, setting: str) -> None:
    server.reply = lambda *_: (status, b"", {})
    with pytest.raises(LoadFailed, match=rf"answered {status}: nothing; check HOPWEAVE_DOCLING__{setting}"):
        client(server).convert(source(), "pdf")


def test_redirects_are_refused(server: DoclingServer) -> None:
    """The file and the key would go where the settings do not name."""
    with DoclingServer(key="") as other:
        server.reply = lambda *_: (307, b"", {"Location": f"{other.url}/v1/convert/file/async"})
        with pytest.raises(LoadFailed, match=r"answered 307: nothing; check HOPWEAVE_DOCLING__URL"):
            client(server).convert(source(), "pdf")
        assert not other.forms


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"task_id": 1}', b'{"task_id": "../x", "task_status": "pending"}']
)
def test_what_is_no_task_is_refused(server: DoclingServer, body: bytes) -> None:
    server.reply = lambda *_: (200, body, {})
    with pytest.raises(LoadFailed, match=r"(what is no task; check HOPWEAVE_DOCLING__URL|without a usable id)"):
        client(server).convert(source(), "pdf")


def test_a_reply_is_bounded(server: DoclingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docling_serve, "_LARGEST", 1024 * 1024)
    server.document = b" " * (1024 * 1024 + 1)
    with pytest.raises(LoadFailed, match=r"sent more than 1 MB"):
        client(server).convert(source(), "pdf")


def test_the_values_of_a_reply_are_bounded(server: DoclingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docling_serve, "_MOST_VALUES", 1000)
    server.document = b"[" + b"1," * 1001 + b"1]"
    with pytest.raises(LoadFailed, match=r"sent more than 1,000 values"):
        client(server).convert(source(), "pdf")


def test_a_server_that_is_not_there_is_tried_again_later() -> None:
    with DoclingServer() as server:
        pass
    with pytest.raises(Unavailable, match=r"cannot be reached \(.*\): start it, or correct HOPWEAVE_DOCLING__URL"):
        client(server).convert(source(), "pdf")


def test_waiting_ends_when_it_is_interrupted(server: DoclingServer) -> None:
    server.statuses = ["started"]
    converter, failed = client(server), []

    def convert() -> None:
        try:
            converter.convert(source(), "pdf")
        except LoadFailed as error:
            failed.append(str(error))

    thread = threading.Thread(target=convert)
    thread.start()
    while not server.forms:
        time.sleep(0.01)
    converter.interrupt()
    thread.join(30)
    assert failed == ["'reports/q1 ü.pdf' is not waited for any more"]


def test_the_doctor_tells_whether_the_server_answers(server: DoclingServer) -> None:
    settings = DoclingSettings(url=server.url, formats=["pdf"], api_key=SecretStr(_KEY))
    assert _examine_docling(settings).detail == "it answers, for pdf"
    assert (
        "HOPWEAVE_DOCLING__API_KEY" in _examine_docling(settings.model_copy(update={"api_key": SecretStr("x")})).detail
    )


def test_the_server_and_its_key_can_be_checked(server: DoclingServer) -> None:
    client(server).check()
    with pytest.raises(LoadFailed, match=r"answered 401"):
        client(server, key="").check()
