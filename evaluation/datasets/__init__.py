"""Datasets on disk: passages, questions and what supports them, read and checked line by line."""
