"""The command line, whose server follows its corpora every tenth of a second: `python -m … serve --port PORT`."""

from app.services import warming
from hopweave import _start

warming._FOLLOW_SECONDS = 0.1

if __name__ == "__main__":
    _start.run()
