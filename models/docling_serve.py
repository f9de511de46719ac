"""Converts files with docling-serve: a file is sent, its task is polled, and the document is fetched as JSON.

docling-serve has a route that waits, but only for two minutes: a long document takes longer.
"""

import json
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from core.errors import InvalidSettings, LoadFailed, Unavailable
from core.execution.bounded_answers import AnswerBounds, AnswerRefused, bounding_hooks
from core.execution.limits import check_work
from core.ports.indexing import Source
from core.text.titles import one_line
from models.endpoint_errors import is_transient, mask_secrets, show_address

_MEGABYTE = 1024 * 1024
_LARGEST = 128 * _MEGABYTE
_MOST_VALUES = 16_000_000
_CALL_SECONDS, _SILENT_SECONDS = 300.0, 60.0
"""Seconds for one call, such as fetching a document, and seconds without a byte of it."""
_PAUSES = (0.2, 0.5, 1.0, 2.0)
_OUTAGE_SECONDS = 60.0
"""Seconds for which a server that does not answer may restart while it has a file."""
_ATTEMPTS = 2
"""How often a file is sent whose task the server does not know any more: a file that kills the server fails alone."""
_TASK = re.compile(r"[A-Za-z0-9_-]{1,100}")
_NO_KEY = SecretStr("")
_LONGEST_NAME = 100
_RETRY = "then retry the document"


class _Task(BaseModel):
    model_config = ConfigDict(extra="ignore")

    task_id: str
    task_status: str
    error_message: str | None = None


class _TaskLost(Exception):
    """The server does not know the task, as after a restart."""


class DoclingServe:
    """One server. Redirects are refused. `seconds` limit the time that a file waits there, and the time that it is
    converted.

    `ocr` reads pages of images, in `languages` if any are named, as the server's OCR engine calls them.
    """

    def __init__(
        self,
        *,
        url: str,
        api_key: SecretStr = _NO_KEY,
        seconds: float = 1800.0,
        ocr: bool = True,
        languages: tuple[str, ...] = (),
    ) -> None:
        try:
            self._url = httpx.URL(url.rstrip("/").removesuffix("/v1") + "/v1/")
        except httpx.InvalidURL as error:
            raise InvalidSettings(f"HOPWEAVE_DOCLING__URL cannot be read as an address: {error}") from error
        self._name = f"docling at {show_address(url)}"
        self._key = api_key
        self._seconds = seconds
        self._options: dict[str, Any] = {"do_ocr": str(ocr).lower(), "ocr_lang": list(languages)}
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._interrupts = 0

    def convert(self, source: Source, format: str) -> bytes:
        for _ in range(_ATTEMPTS):
            try:
                return self._convert(source, format)
            except _TaskLost:
                continue
        raise LoadFailed(
            f"{source.key!r} cannot be read: {self._name} lost it {_ATTEMPTS} times, as when it crashes or runs in "
            f"several processes without a common queue; see its log, {_RETRY}"
        )

    def interrupt(self) -> None:
        self._interrupts += 1

    def close(self) -> None:
        self.interrupt()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def check(self) -> None:
        """Raises `Unavailable` or `LoadFailed` if the server does not answer, or does not accept the key."""
        response = self._call("the server", "GET", "status/poll/none")
        if response.status_code != httpx.codes.NOT_FOUND:
            raise self._refusal("the server", response)

    def _convert(self, source: Source, format: str) -> bytes:
        started = self._interrupts
        task = self._submit(source, format)
        waits, deadline, polls = True, time.monotonic() + self._seconds, 0
        while task.task_status in ("pending", "started"):
            if waits and task.task_status == "started":
                waits, deadline = False, time.monotonic() + self._seconds
            if time.monotonic() > deadline:
                raise self._explain_time(source.key, waits=waits)
            self._pause(source.key, _PAUSES[min(polls, len(_PAUSES) - 1)], started)
            task = self._poll(source.key, task.task_id, started)
            polls += 1
        if task.task_status not in ("success", "partial_success"):
            words = self._words(task.error_message or task.task_status)
            raise LoadFailed(f"{source.key!r} cannot be read: {self._name} failed on it ({words}); its log says why")
        response = self._ask(source.key, f"result/{task.task_id}", started)
        return response.content

    def _submit(self, source: Source, format: str) -> _Task:
        form = {
            **self._options,
            "from_formats": format,
            "to_formats": "json",
            "image_export_mode": "placeholder",
            "do_pdf_heading_hierarchy": "true",
            "document_timeout": f"{self._seconds:g}",
            "target_type": "inbody",
        }
        name = f"{re.sub(r'[^A-Za-z0-9._-]', '_', source.key)[-_LONGEST_NAME:]}.{format}"
        files = {"files": (name, source.content, "application/octet-stream")}
        response = self._call(source.key, "POST", "convert/file/async", data=form, files=files)
        if response.status_code != httpx.codes.OK:
            raise self._refusal(source.key, response)
        return self._read_task(source.key, response)

    def _poll(self, key: str, task_id: str, started: int) -> _Task:
        return self._read_task(key, self._ask(key, f"status/poll/{task_id}", started))

    def _ask(self, key: str, path: str, started: int) -> httpx.Response:
        """Asks about a task. Waits for a server that restarts. Raises `_TaskLost` if it does not know the task."""
        ends = time.monotonic() + _OUTAGE_SECONDS
        while True:
            try:
                response = self._call(key, "GET", path)
                if response.status_code == httpx.codes.OK:
                    return response
                if response.status_code == httpx.codes.NOT_FOUND:
                    raise _TaskLost
                raise self._refusal(key, response)
            except Unavailable:
                if time.monotonic() > ends:
                    raise
                self._pause(key, _PAUSES[-1], started)

    def _pause(self, key: str, seconds: float, started: int) -> None:
        check_work()
        time.sleep(seconds)
        if self._interrupts != started:
            raise LoadFailed(f"{key!r} is not waited for any more")

    def _call(
        self,
        key: str,
        method: str,
        path: str,
        data: Mapping[str, Any] | None = None,
        files: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        secret = self._key.get_secret_value()
        headers = {"Accept": "application/json", **({"X-Api-Key": secret} if secret else {})}
        try:
            return self._open().request(method, self._url.join(path), data=data, files=files, headers=headers)
        except AnswerRefused as error:
            raise LoadFailed(f"{key!r} cannot be read: {self._name} {error}") from error
        except httpx.TimeoutException as error:
            raise Unavailable(f"{self._name} did not answer within {_SILENT_SECONDS:g} seconds") from error
        except httpx.HTTPError as error:
            raise Unavailable(
                f"{self._name} cannot be reached ({self._words(str(error))}): start it, or correct "
                "HOPWEAVE_DOCLING__URL"
            ) from error

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                bounds = AnswerBounds(whole=_LARGEST, values=_MOST_VALUES, seconds=_CALL_SECONDS)
                self._client = httpx.Client(
                    timeout=_SILENT_SECONDS, follow_redirects=False, event_hooks=bounding_hooks(bounds, blocking=True)
                )
            return self._client

    def _refusal(self, key: str, response: httpx.Response) -> LoadFailed | Unavailable:
        status = response.status_code
        said = f"{self._name} answered {status}: {self._words(response.text) or 'nothing'}"
        if is_transient(status) and status != httpx.codes.INTERNAL_SERVER_ERROR:
            return Unavailable(said)
        settings = {401: "API_KEY", 403: "API_KEY", 404: "URL", 405: "URL"}
        if status in settings or response.is_redirect:
            said += f"; check HOPWEAVE_DOCLING__{settings.get(status, 'URL')}, {_RETRY}"
        return LoadFailed(f"{key!r} cannot be read: {said}")

    def _read_task(self, key: str, response: httpx.Response) -> _Task:
        try:
            task = _Task.model_validate(json.loads(response.content))
        except (ValidationError, ValueError, RecursionError) as error:
            raise LoadFailed(
                f"{key!r} cannot be read: {self._name} answered with what is no task; check HOPWEAVE_DOCLING__URL, "
                f"{_RETRY}"
            ) from error
        if not _TASK.fullmatch(task.task_id):
            raise LoadFailed(f"{key!r} cannot be read: {self._name} answered with a task without a usable id")
        return task

    def _explain_time(self, key: str, *, waits: bool) -> LoadFailed | Unavailable:
        if waits:
            return Unavailable(f"{self._name} is busy: it did not begin with {key!r} within {self._seconds:g} seconds")
        return LoadFailed(
            f"{key!r} cannot be read: {self._name} takes more than {self._seconds:g} seconds "
            "(HOPWEAVE_DOCLING__SECONDS)"
        )

    def _words(self, text: str) -> str:
        return one_line(mask_secrets(text, self._key))
