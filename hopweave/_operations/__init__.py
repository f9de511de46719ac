"""The operations of both clients, one module for each noun; each is written once, as `hopweave._steps` describes."""
