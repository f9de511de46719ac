"""The values that the Python API takes and returns, one module for each noun of the HTTP API.

Every value is a frozen dataclass with the fields of the HTTP API's shape; a test compares the two.
"""
