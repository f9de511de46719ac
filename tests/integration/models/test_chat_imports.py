"""What a server loads ahead, so that the first question does not hold the event loop."""

import subprocess
import sys

from tests.twins.chat_server import ChatServer

_PROGRAM = """
import asyncio, sys
from core.ports.chat import ChatRequest, Message, Speaker
from core.settings import LlmSettings
from core.trace import Trace
from models import import_chat_client, make_chat_models
import_chat_client()
settings = LlmSettings(base_url=sys.argv[1], model="m", cache=False)
before = set(sys.modules)
async def main():
    models = make_chat_models(settings, None, None)
    request = ChatRequest(role="r", messages=(Message(speaker=Speaker.USER, content="?"),), prompt_hash="")
    await models.of("r").complete(request, Trace())
    await models.close()
asyncio.run(main())
late = set(sys.modules) - before
print(*sorted(name for name in late if "." not in name or name.startswith(("openai", "http", "anyio"))))
"""


def test_the_first_call_imports_no_package() -> None:
    with ChatServer() as model:
        command = [sys.executable, "-c", _PROGRAM, model.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    late = [name for name in done.stdout.split() if name not in {"fileinput", "cmath"} and not name.startswith("_")]
    assert late == []
