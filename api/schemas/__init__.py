"""The bodies of requests and responses: pydantic models, and their conversion from and to the values of `core`."""
