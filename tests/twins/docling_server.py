"""An endpoint that speaks the protocol of docling-serve: it takes a file, and replies what was recorded."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.twins.json_server import JsonServer, Reply, Request

__all__ = ["RECORDED", "DoclingServer", "read_recorded"]

RECORDED = Path(__file__).parents[1] / "recorded" / "docling"


def read_recorded(name: str) -> bytes:
    """Returns the reply to a file: `cranes.docx`, `berths.xlsx`, `tides.pptx` and `locks.html` were recorded from
    docling-serve 1.38.2, `report.pdf` was made with docling-core 2.104.
    """
    return (RECORDED / f"{name}.json").read_bytes()


class DoclingServer(JsonServer):
    """Each file is a task. `statuses` are told one after the other, the last one again and again.

    `forms` are the fields of the files that were sent, with the name of the file as `filename`. `reply` makes the whole
    answer of a request by its method and path: a status, a body and further headers, or None for the usual answer.
    """

    def __init__(self, document: bytes = b"{}", *, key: str = "") -> None:
        super().__init__()
        self.document = document
        self.key = key
        self.statuses = ["pending", "started", "success"]
        self.error = "Internal processing error."
        self.forms: list[dict[str, list[str]]] = []
        self.polls = 0
        self.reply: Callable[[str, str], tuple[int, bytes, dict[str, str]] | None] = lambda *_: None

    def respond(self, request: Request) -> Reply:
        if self.key and request.headers.get("x-api-key") != self.key:
            return Reply(status=401, body='{"detail":"Unauthorized"}')
        own = self.reply(request.method, request.path)
        status, body, headers = own or (*self._answer(request), {})
        return Reply(status=status, body=body, headers=headers)

    def _answer(self, request: Request) -> tuple[int, bytes]:
        path = request.path
        if request.method == "POST" and path == "/v1/convert/file/async":
            self.forms.append(_read_form(request.body))
            self.polls = 0
            return 200, self._task(self.statuses[0])
        if path == "/v1/status/poll/task-1" and self.forms:
            self.polls += 1
            return 200, self._task(self.statuses[min(self.polls, len(self.statuses) - 1)])
        if path == "/v1/result/task-1" and self.forms:
            return 200, self.document
        return 404, b'{"detail":"Task not found."}'

    def _task(self, status: str) -> bytes:
        task = {"task_id": "task-1", "task_type": "convert", "task_status": status, "error_message": None}
        return json.dumps(task | ({"error_message": self.error} if status == "failure" else {})).encode()


def _read_form(body: bytes) -> dict[str, list[str]]:
    """Returns the texts of a form; of a file its name and its bytes as Latin-1."""
    fields: dict[str, list[str]] = {}
    boundary = body.partition(b"\r\n")[0]
    for part in body.split(boundary)[1:-1]:
        head, _, value = part.strip(b"\r\n").partition(b"\r\n\r\n")
        found = re.search(rb'name="([^"]*)"(?:; filename="([^"]*)")?', head)
        assert found
        fields.setdefault(found[1].decode(), []).append(value.decode("latin-1"))
        if found[2]:
            fields["filename"] = [found[2].decode()]
    return fields
