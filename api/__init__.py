"""The HTTP API: routes, schemas, the table of error statuses, and the guard that every request passes first."""
