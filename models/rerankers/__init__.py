"""Rerankers: a cross-encoder or a model with late interaction in this process, or an endpoint."""

from models.rerankers.colbert import ColBertReranker
from models.rerankers.cross_encoder import CrossEncoderReranker
from models.rerankers.endpoint import HttpReranker

__all__ = ["ColBertReranker", "CrossEncoderReranker", "HttpReranker"]
