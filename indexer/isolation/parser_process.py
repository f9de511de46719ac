"""The parser process as the worker sees it: started when it is needed or before, reused, replaced after a failure.

First comes one process from the start to the end: what it is asked, and why it ended. A loader that runs another loader
in a parser process comes last.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import LoadFailed, Unavailable
from core.execution.processes import python_command
from core.ports.indexing import LoadedDocument, Source
from core.strategies import StrategyConfig
from indexer.isolation.frames import HEADER_BYTES, LOAD, decode_document, frame, frame_length, read_frame
from indexer.isolation.limits import MEGABYTE, ParserLimits

_MODULE = "indexer.isolation.parser"
_HEAD_BYTES = 64 * 1024
_START_SECONDS = 60.0
_KEPT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "TESSDATA_PREFIX")
"""The variables by which interpreter, libraries and tesseract are found. No other variable is passed on."""


class ChildEnded(Exception):
    """The process ended without a reply; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The reply to one request. `body` is None unless the task was done. After the last reply, the process ends."""

    outcome: str
    reason: str
    is_last: bool
    body: bytes | None


class _Head(BaseModel):
    model_config = ConfigDict(strict=True)

    outcome: str = ""
    reason: str = ""
    last: bool = False
    confined: list[str] = []


class ParserChild:
    """A process with three inherited descriptors: two pipes for messages, and a pipe that tells of the worker's end.

    `ParserChild()` does not wait until the process has its libraries. Raises `Unavailable` if the process cannot start.
    """

    def __init__(self, limits: ParserLimits, modules: Sequence[str] = (), readable: Sequence[str] = ()) -> None:
        self._limits = limits
        self._reason = ""
        kept = int(limits.memory * limits.kept)
        numbers = map(str, (limits.memory, kept, limits.seconds, limits.files))
        reading, pipe = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, our own interpreter
                python_command(_MODULE, str(reading), *numbers, os.pathsep.join(readable), *modules),
                env={name: os.environ[name] for name in _KEPT if name in os.environ} | {"LC_ALL": "C.UTF-8"},
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(reading,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(pipe)
            raise Unavailable(f"the process that parses files cannot be started: {error.strerror}") from error
        finally:
            os.close(reading)
        self._end = weakref.finalize(self, _end, self._process, pipe)
        self._confined: frozenset[str] | None = None
        self._asked = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def files_left(self) -> int:
        """The number of files that the process still parses before it ends."""
        return self._limits.files - self._asked

    @property
    def confined(self) -> frozenset[str]:
        """The parts of `indexer.isolation.confinement` in force. Waits for the start, and raises `Unavailable`."""
        if self._confined is None:
            try:
                with self._deadline(_START_SECONDS):
                    self._confined = frozenset(self._read_head().confined)
            except ChildEnded as error:
                self.end()
                raise Unavailable(f"the process that parses files did not start: {error}") from error
        return self._confined

    def ask(self, request: Mapping[str, Any], content: bytes) -> Reply:
        """Waits for the start and the reply. Raises `ChildEnded`, and `Unavailable` if the process does not start."""
        _ = self.confined
        self._asked += 1
        with self._deadline(self._limits.seconds):
            try:
                for part in [*frame(json.dumps(request).encode()), *frame(content)]:
                    self._pipe_in.write(part)
                self._pipe_in.flush()
            except BrokenPipeError as error:
                raise ChildEnded(self._explain_end()) from error
            head = self._read_head()
            body = self._read_body() if head.outcome == "loaded" else None
        return Reply(outcome=head.outcome, reason=head.reason, is_last=head.last, body=body)

    def kill(self) -> None:
        """Kills the process and all that it has started. A thread that waits for it gets `ChildEnded`."""
        _kill(self._process)

    def end(self) -> None:
        """Kills the process, and waits for its end."""
        self._end()

    @contextlib.contextmanager
    def _deadline(self, seconds: float) -> Iterator[None]:
        timer = threading.Timer(seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _expire(self) -> None:
        self._reason = self._explain_time()
        _kill(self._process)

    def _read_head(self) -> _Head:
        try:
            content = read_frame(self._read_little)
            if content is not None:
                return _Head.model_validate_json(content)
        except ValidationError as error:
            raise ChildEnded("its parser sent no valid reply") from error
        raise ChildEnded(self._explain_end())

    def _read_little(self, size: int) -> bytes:
        if size > _HEAD_BYTES:
            raise ChildEnded("its parser sent no valid reply")
        return self._pipe_out.read(size)

    def _read_body(self) -> bytes:
        header = self._pipe_out.read(HEADER_BYTES)
        length = frame_length(header) if len(header) == HEADER_BYTES else 0
        if length > self._limits.output:
            size = self._limits.output // MEGABYTE
            raise ChildEnded(f"its text has more than {size:,} MB (HOPWEAVE_PARSER__OUTPUT_MB)")
        body = self._pipe_out.read(length)
        if not body or len(body) < length:
            raise ChildEnded(self._explain_end())
        return body

    def _explain_end(self) -> str:
        """Waits for the end of the process, and says why it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code = self._process.returncode
        if self._reason:
            return self._reason
        if code is None or code >= 0:
            return f"its parser ended without a reply (exit code {code})"
        if -code == signal.SIGXCPU:
            return self._explain_time()
        size = self._limits.memory // MEGABYTE
        name = signal.Signals(-code).name
        return f"its parser crashed ({name}): the file is damaged, or takes more than {size:,} MB of memory"

    def _explain_time(self) -> str:
        return f"it takes more than {self._limits.seconds:g} seconds ({self._limits.seconds_setting})"

    @property
    def _pipe_in(self) -> IO[bytes]:
        return _present(self._process.stdin)

    @property
    def _pipe_out(self) -> IO[bytes]:
        return _present(self._process.stdout)


def _present(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("the process was started without this pipe")
    return pipe


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode is None:  # else its number may belong to another process
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: "subprocess.Popen[bytes]", pipe: int) -> None:
    _kill(process)
    process.wait()
    os.close(pipe)
    for end in (process.stdin, process.stdout):
        with contextlib.suppress(BrokenPipeError):  # what was not sent is of no use any more
            _present(end).close()


_FILES_AHEAD = 20
"""With so many files left, a process gets its successor. A busy machine takes as long to start it as to parse ten."""


class ParserProcess:
    """Parses one file at a time. The process ends with the current process, however that ends.

    It can import installed packages, and `modules`, and can read the folders `readable`.
    """

    def __init__(
        self, limits: ParserLimits | None = None, modules: Sequence[str] = (), readable: Sequence[str] = ()
    ) -> None:
        self._modules = modules
        self._readable = readable
        self._limits = limits or ParserLimits()
        self._lock = threading.Lock()
        self._parsing = threading.Lock()
        self._is_parsing = self._is_interrupted = False
        self._child: ParserChild | None = None
        self._successor: ParserChild | None = None
        self._is_prepared = self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The number of the process, if it runs."""
        return self._child.pid if self._child else None

    @property
    def confined(self) -> frozenset[str]:
        """The parts of `indexer.isolation.confinement` that are in force in the process that runs."""
        return self._child.confined if self._child else frozenset()

    def prepare(self) -> None:
        """Starts a process, and from now on each successor in advance, so that no file waits for a start.

        Does not wait for the start. Raises `Unavailable` if the system starts no process.
        """
        with self._lock:
            self._is_prepared = True
            self._child = self._child or ParserChild(self._limits, self._modules, self._readable)

    def parse(self, key: str, request: Mapping[str, Any], content: bytes) -> bytes:
        """Returns what `encode_document` wrote. Waits while another thread parses.

        Raises `LoadFailed`, which names the document, and the limit or what is wrong with its bytes.
        """
        with self._lock:
            try:
                self._child = self._child or ParserChild(self._limits, self._modules, self._readable)
                reply = self._ask(self._child, request, content)
            except ChildEnded as error:
                self._end_child()
                if self._is_closed:
                    raise Unavailable(f"{key!r} was not read to the end: the parser process was closed") from error
                raise LoadFailed(f"{key!r} cannot be read: {error}") from error
            except BaseException:
                self._end_child()
                raise
            else:
                if reply.is_last or self._is_interrupted:
                    self._end_child()
            finally:
                self._start_ahead()
        if reply.body is None:
            raise LoadFailed(self._explain(key, reply.outcome, reply.reason))
        return reply.body

    def interrupt(self) -> None:
        """Ends the parsing of a file, which fails. Without effect while no file is parsed."""
        with self._parsing:
            if self._is_parsing and self._child:
                self._is_interrupted = True
                self._child.kill()

    def close(self) -> None:
        """Ends the process, also while it parses. The next `parse` starts a new process."""
        self._is_closed = True
        if child := self._child:
            child.kill()
        with self._lock:
            while self._child:
                self._end_child()
            self._is_prepared = self._is_closed = False

    def _ask(self, child: ParserChild, request: Mapping[str, Any], content: bytes) -> Reply:
        """Asks the process. A process that was interrupted is not used again, even if it has replied."""
        with self._parsing:
            self._is_parsing, self._is_interrupted = True, False
        try:
            return child.ask(request, content)
        finally:
            with self._parsing:
                self._is_parsing = False

    def _end_child(self) -> None:
        """Ends the process. Its successor, if it has started, takes its place."""
        if self._child:
            self._child.end()
        self._child, self._successor = self._successor, None

    def _start_ahead(self) -> None:
        """Starts the process for the next files, if `prepare` asked for it and the current one is gone or ends soon."""
        if not self._is_prepared or self._is_closed or self._successor:
            return
        with contextlib.suppress(Unavailable):  # the next file tries again, and its error says why
            if self._child is None:
                self._child = ParserChild(self._limits, self._modules, self._readable)
            elif self._child.files_left <= _FILES_AHEAD:
                self._successor = ParserChild(self._limits, self._modules, self._readable)

    def _explain(self, key: str, outcome: str, reason: str) -> str:
        if outcome == "refused":
            return reason
        if outcome == "memory":
            size = self._limits.memory // MEGABYTE
            return f"{key!r} cannot be read: it takes more than {size:,} MB of memory ({self._limits.memory_setting})"
        return f"{key!r} cannot be read: it is damaged, or not what its name says ({reason})"


@dataclass(frozen=True, kw_only=True)
class IsolatedLoader:
    """Runs the loader of `module`, with the options `config`, in `process`."""

    module: str
    config: StrategyConfig
    process: ParserProcess

    def load(self, source: Source) -> LoadedDocument:
        request = {
            "task": LOAD,
            "module": self.module,
            "config": self.config.model_dump(mode="json"),
            "key": source.key,
            "media_type": source.media_type,
            "title": source.title,
        }
        reply = self.process.parse(source.key, request, source.content)
        try:
            return decode_document(source.key, reply)
        except ValueError as error:
            raise LoadFailed(f"{source.key!r} cannot be read: its parser sent no valid reply ({error})") from error
