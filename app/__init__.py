"""The composition root: container, worker process and its supervision, and the entry points of the use cases."""
