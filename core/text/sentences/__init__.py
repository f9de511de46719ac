"""Sentences of a text as ranges: `segment` and `iter_segments` for chunks, `split_sentences` for quotes."""

from core.text.sentences.splitter import Range, iter_segments, segment, split_sentences

__all__ = ["Range", "iter_segments", "segment", "split_sentences"]
