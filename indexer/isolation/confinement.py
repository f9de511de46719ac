"""Confinement of the current process on Linux: resource limits, no sockets, and only the files of libraries.

No part needs privileges. A part that the system does not offer is left out; `confine` returns the parts in force.
"""

import ctypes
import importlib.util
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

MEMORY, SOCKETS, FILES = "memory", "sockets", "files"

_OPEN_FILES = 256
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2

# By machine: its number in the kernel's audit, then the calls that are refused: socket, io_uring_setup, ptrace,
# process_vm_readv, process_vm_writev, pidfd_getfd.
_REFUSED_CALLS = {
    "x86_64": (0xC000003E, (41, 425, 101, 310, 311, 438)),
    "aarch64": (0xC00000B7, (198, 425, 117, 270, 271, 438)),
}
_SECOND_ABI = 0x40000000  # the numbers of x32 on x86_64
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 13, 0x80000000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ = (1 << 0) | (1 << 2) | (1 << 3)  # execute, read a file, read a folder
_WRITE_FILE = 1 << 1
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/nix/store", "/etc/ld.so.cache", "/etc/localtime")
_LIBRARIES = (
    "lxml",
    "olefile",
    "openpyxl",
    "pypdfium2",
    "xlrd",
)  # installed where all others are, perhaps outside of the prefix
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def confine(memory: int, readable: Iterable[str] = ()) -> list[str]:
    """Confines this process and its children for good. `memory` is in bytes of address space from now on.

    `readable` are further files and folders that may be read. Returns the parts that are in force.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    done = [MEMORY] if _limit_memory(memory) else []
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            done += [FILES] if _refuse_files(libc, readable) else []
            done += [SOCKETS] if _refuse_sockets(libc) else []
    return done


def _limit_memory(memory: int) -> bool:
    try:
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))
    except (OSError, ValueError):  # macOS has neither
        return False
    return True


def _refuse_sockets(libc: ctypes.CDLL) -> bool:
    """Installs a filter of system calls. Calls of another architecture kill the process."""
    known = _REFUSED_CALLS.get(platform.machine())
    if known is None:
        return False
    architecture, refused = known
    checks = [(_IF_AT_LEAST, _SECOND_ABI)] if platform.machine() == "x86_64" else []
    checks += [(_IF_EQUAL, call) for call in refused]
    program = [(_LOAD, 0, 0, 4), (_IF_EQUAL, 0, len(checks) + 3, architecture), (_LOAD, 0, 0, 0)]
    program += [(code, len(checks) - n, 0, value) for n, (code, value) in enumerate(checks)]
    program += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _KILL)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in program))
    whole = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER_MODE, whole, 0, 0) == 0)


def _refuse_files(libc: ctypes.CDLL, readable: Iterable[str]) -> bool:
    """Allows reading the libraries of the system and of Python, and no writing, by Landlock."""
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    rights = 13 if version == 1 else 14 if version == 2 else 15 if version < 5 else 16
    handled = struct.pack("=QQQ", (1 << rights) - 1, 0b11, 0b11)  # files; TCP; signals and abstract sockets
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = libc.syscall(_CREATE_RULESET, ctypes.create_string_buffer(handled), ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    try:
        for path in {*_SYSTEM, *_python_folders(), *readable}:
            _allow(libc, rules, path, _READ)
        for path in _DEVICES:
            _allow(libc, rules, path, _READ | _WRITE_FILE)
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    """Adds a rule. Paths that do not exist are left out."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return
    if not Path(path).is_dir():
        rights &= ~(1 << 3)
    rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place))
    libc.syscall(_ADD_RULE, rules, 1, rule, 0)
    os.close(place)


def _python_folders() -> Iterator[str]:
    """Yields the folders of Python, of its libraries, and of imported packages elsewhere.

    The parent of such a package may be a checkout, which holds data and settings, too.
    """
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix)
    for name, module in list(sys.modules.items()):
        if "." not in name:
            yield from list(getattr(module, "__path__", ()))
    for library in _LIBRARIES:
        if (spec := importlib.util.find_spec(library)) and spec.origin:
            yield str(Path(spec.origin).parents[1])
