"""The commands of `hopweave`, one module each."""
