"""`python -m hopweave`: the command line."""

from hopweave._start import run

if __name__ == "__main__":
    run()
