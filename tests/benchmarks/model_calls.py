"""What passes between Hopweave and an endpoint: `python -m tests.benchmarks.model_calls serve --to URL --out FILE`.

A proxy before a real endpoint (`HOPWEAVE_LLM__BASE_URL=http://127.0.0.1:PORT/v1`, and
`HOPWEAVE_LLM__SEND_METADATA=true`, which says what a call asks) writes each call as a line of FILE.
With `--without-json` it refuses `response_format`, as a server that knows no JSON mode does. `report FILE
--questions FILE`, with the `questions.jsonl` that `hopweave eval` was given, then counts:

- the structured answers that could be used at the first try: they were not sent back with an error;
- the part of each prompt that its server has read before: what it has in common, from the beginning, with the call
  before it. llama-cpp-python's server and a slot of `llama-server` keep this much. The first call of a question is not
  counted; a call with the text of another question of the file begins one.
"""

import argparse
import json
import os
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

__all__ = ["main", "report"]

_SCHEMA = "The object must fit this JSON schema:"
_REPAIR = "Your answer could not be read:"
_SECONDS = 3600
_HOP = frozenset({"content-length", "transfer-encoding", "content-encoding", "connection", "date", "server"})


def report(calls: Sequence[Mapping[str, Any]], questions: Collection[str]) -> dict[str, Any]:
    """Returns the counts of calls, which are in the order of their ends, as is right for a server with one slot."""
    answered = [call for call in calls if call["status"] == 200]
    structured = [call for call in answered if call["structured"] and not _is_repair(call)]
    repairs = [call for call in answered if _is_repair(call)]
    current, before = "", ""
    begun = read = reused = 0
    for call in answered:
        prompt = _render(call["messages"])
        if call["question"] in questions and call["question"] != current:
            current, begun = call["question"], begun + 1
        else:
            read += len(prompt)
            reused += len(os.path.commonprefix([before, prompt]))  # noqa: RUF071 - characters are meant
        before = prompt + call["text"]
    return {
        "questions": begun,
        "calls": len(answered),
        "refused": len(calls) - len(answered),
        "structured": len(structured),
        "first_try": 1 - len(repairs) / len(structured) if structured else None,
        "later_calls": len(answered) - begun,
        "reused": reused / read if read else None,
        "roles": sorted({call["role"] for call in answered}),
    }


def _is_repair(call: Mapping[str, Any]) -> bool:
    return str(call["messages"][-1]["content"]).startswith(_REPAIR)


def _render(messages: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"<{one['role']}>{one['content']}" for one in messages)


def _make_app(to: str, out: Path, *, without_json: bool) -> FastAPI:
    app = FastAPI()
    client = httpx.AsyncClient(base_url=to, timeout=_SECONDS)

    def note(body: Mapping[str, Any], status: int, text: str, seconds: float) -> None:
        about = body.get("metadata") or {}
        line = {
            "role": about.get("role", ""),
            "question": about.get("question", ""),
            "status": status,
            "structured": "response_format" in body or _SCHEMA in _render(body["messages"]),
            "messages": body["messages"],
            "text": text,
            "seconds": seconds,
        }
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    @app.get("/v1/{path:path}")
    async def get(path: str) -> Response:
        answer = await client.get(path)
        return Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))

    @app.post("/v1/{path:path}")
    async def post(path: str, request: Request) -> Response:
        body = await request.json()
        if without_json and "response_format" in body:
            note(body, 400, "", 0.0)
            refusal = {"error": {"message": "response_format is not supported", "param": "response_format"}}
            return JSONResponse(refusal, 400)
        began = time.monotonic()
        sent = client.build_request("POST", path, json={key: body[key] for key in body if key != "metadata"})
        answer = await client.send(sent, stream=True)

        async def pieces() -> AsyncIterator[bytes]:
            whole = bytearray()
            try:
                async for piece in answer.aiter_raw():
                    whole += piece
                    yield piece
            finally:
                await answer.aclose()
                note(body, answer.status_code, _read_text(whole.decode("utf-8", "replace")), time.monotonic() - began)

        headers = {name: value for name, value in answer.headers.items() if name not in _HOP}
        return StreamingResponse(pieces(), answer.status_code, headers)

    return app


def _read_text(raw: str) -> str:
    """Returns the text of an answer, streamed or whole."""
    lines = [line[5:] for line in raw.splitlines() if line.startswith("data:")] or [raw]
    pieces = list[str]()
    for line in lines:
        if line.strip() in ("", "[DONE]"):
            continue
        try:
            choices = json.loads(line).get("choices") or []
        except ValueError:
            continue
        pieces += [(one.get("delta") or one.get("message") or {}).get("content") or "" for one in choices]
    return "".join(pieces)


def _read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="stand before an endpoint")
    serve.add_argument("--to", required=True, metavar="URL", help="the endpoint, up to and including /v1")
    serve.add_argument("--out", required=True, type=Path, metavar="FILE")
    serve.add_argument("--port", type=int, default=8119)
    serve.add_argument("--without-json", action="store_true", help="refuse response_format")
    count = commands.add_parser("report", help="count what a file holds")
    count.add_argument("file", type=Path)
    count.add_argument("--questions", required=True, type=Path, metavar="FILE")
    given = parser.parse_args()
    if given.command == "serve":
        app = _make_app(given.to, given.out, without_json=given.without_json)
        uvicorn.run(app, host="127.0.0.1", port=given.port, log_level="warning")
    else:
        questions = {one["question"] for one in _read_lines(given.questions)}
        print(json.dumps(report(_read_lines(given.file), questions), indent=2))


if __name__ == "__main__":
    main()
