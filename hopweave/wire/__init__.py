"""The values that travel over HTTP: what the API answers, and what the Python client returns. Each is written once.

Every value is a frozen dataclass of the standard library. Its docstring and the `doc` of its fields are its description
in OpenAPI. `api.schemas` fills the values from `core`; `hopweave` exports them.
"""
