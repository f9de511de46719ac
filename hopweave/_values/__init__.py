"""The values that the Python API takes and returns: `content` of corpora and `answers` to questions.

Every value is a frozen dataclass with the fields of the HTTP API's shape; a test compares the two.
"""
