"""A chat model in this process, which answers what it is given, one text a call."""

from collections import deque
from collections.abc import Iterable

from core.ports.chat import ChatRequest, Completion, OnToken
from core.trace import Trace

__all__ = ["TwinChat"]


class TwinChat:
    """Its own `ChatModels` too: one model for every role. `requests` are all that it was asked."""

    model = "twin"

    def __init__(self, answers: Iterable[str | Completion] = ()) -> None:
        self.answers = deque(answers)
        self.requests: list[ChatRequest] = []

    def of(self, role: str) -> "TwinChat":
        return self

    def is_small(self, role: str) -> bool:
        return False

    async def delete_corpus(self, corpus_id: str) -> None: ...

    async def close(self) -> None: ...

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        self.requests.append(request)
        answer = self.answers.popleft()
        if isinstance(answer, str):
            answer = Completion(text=answer, model=self.model, prompt_tokens=7, completion_tokens=3)
        if on_token is not None:
            for piece in answer.text:
                on_token(piece)
        return answer
