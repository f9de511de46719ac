"""Run a server that listens on every interface in a network of its own, and let loopback in.

`python in_namespace.py 19530:19530 9091:9091 -- command…`: this process binds the first port of each pair on 127.0.0.1,
leaves for a network namespace that has nothing but its own loopback, and becomes `command` there. A child carries
connections from the ports outside to those inside, and ends with the command. Ports inside never clash with anything.
Uses the standard library only, since it is run as a file.
"""

import asyncio
import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40


def main(words: list[str]) -> None:
    pairs, command = words[: words.index("--")], words[words.index("--") + 1 :]
    doors = [(_bound(int(outside)), int(inside)) for outside, _, inside in (pair.partition(":") for pair in pairs)]
    _leave_network()
    ended, held = os.pipe()
    if os.fork() == 0:
        os.close(held)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends with the command, which may take its time to
        asyncio.run(_carry(doors, ended))
        return
    os.set_inheritable(held, True)  # closed by the kernel when the command ends, however it does
    os.execvp(command[0], command)  # noqa: S606 - no shell is the point


def _bound(port: int) -> socket.socket:
    """Bound here, so in this network for good; it refuses connections until it listens."""
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    door.bind(("127.0.0.1", port))
    return door


def _leave_network() -> None:
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        why = os.strerror(ctypes.get_errno())
        raise SystemExit(f"no network namespace for a server that would else listen on every interface: {why}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING))


async def _carry(doors: list[tuple[socket.socket, int]], ended: int) -> None:
    """Each door opens when the port behind it does."""
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(ended, gone.set)
    opening = [asyncio.create_task(_open(door, inside)) for door, inside in doors]
    await gone.wait()
    for task in opening:
        task.cancel()
    await asyncio.gather(*opening, return_exceptions=True)


async def _open(door: socket.socket, inside: int) -> None:
    while not await _is_open(inside):  # noqa: ASYNC110 - another process opens it, and tells nobody
        await asyncio.sleep(0.1)

    async def carry_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", inside)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))

    async with await asyncio.start_server(carry_one, sock=door) as server:
        await server.serve_forever()


async def _is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 18):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # one side is gone, and so then is the other
    finally:
        writer.close()


if __name__ == "__main__":
    main(sys.argv[1:])
