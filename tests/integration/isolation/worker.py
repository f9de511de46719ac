"""A process with a parser that does what the argument says: prints the number of the parser's process, and waits."""

import sys
import threading
import time

from tests.integration.isolation.test_parser_process import hostile


def _main() -> None:
    loader = hostile()
    threading.Thread(target=loader.act, args=(sys.argv[1],), daemon=True).start()
    while loader.process.pid is None:
        time.sleep(0.02)
    time.sleep(0.5)  # until it hangs; it must end as well before that
    print(loader.process.pid, flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    _main()
