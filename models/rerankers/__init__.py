"""Rerankers: a cross-encoder in this process, or an endpoint."""

from models.rerankers.cross_encoder import CrossEncoderReranker
from models.rerankers.endpoint import HttpReranker

__all__ = ["CrossEncoderReranker", "HttpReranker"]
