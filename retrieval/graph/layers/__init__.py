"""Changes laid over a snapshot without copying it: what changed, the edges that differ, and reading both as one."""
