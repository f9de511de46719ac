"""The oracle in a process of its own.

`python -m tests.benchmarks.oracle_server QUESTIONS` prints its address, and ends when its standard input does.
"""

import sys
from pathlib import Path

from tests.benchmarks.oracle import read_gold
from tests.twins.chat_server import ChatServer
from tests.twins.oracle import Oracle


def main() -> None:
    gold = read_gold(Path(sys.argv[1]))
    with ChatServer(respond=Oracle({one.question: one.hops for one in gold})) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
