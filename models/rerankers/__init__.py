"""Rerankers: a cross-encoder or a model with late interaction in this process, or an endpoint."""

from models.rerankers.endpoint import HttpReranker
from models.rerankers.local import ColBertReranker, CrossEncoderReranker

__all__ = ["ColBertReranker", "CrossEncoderReranker", "HttpReranker"]
