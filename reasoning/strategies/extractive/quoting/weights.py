"""Weights of the features, as `tests/benchmarks/materials/quoting.py --fit` prints them."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """A row that ranks units, and two rows, each with a constant, that weigh the best units."""

    rank: tuple[float, ...]
    answerable: tuple[float, ...]
    answerable_bias: float
    right: tuple[float, ...]
    right_bias: float


WITH_COSINES = Weights(
    rank=(
        3.06,  # in_unit
        2.56,  # in_context
        -0.49,  # beside
        -0.32,  # in_passage
        -0.57,  # rarest_missing
        -0.69,  # rarest_missing_near
        -0.27,  # names_missing
        0.00,  # found_nowhere
        0.73,  # pairs
        0.12,  # value
        -0.11,  # no_value
        1.70,  # value_and_words
        0.28,  # words
        -0.22,  # few_words
        0.16,  # row
        0.84,  # rank
        -0.01,  # asked_words
        0.00,  # typed
        -1.50,  # refers
        1.20,  # wanted
        -1.50,  # no_sentence
        1.09,  # unit_cosine
        2.18,  # cosine_lead
        0.18,  # hit_cosine
        0.02,  # best_cosine
    ),
    answerable=(
        0.00,  # in_unit
        0.00,  # in_context
        6.77,  # beside
        0.00,  # in_passage
        0.00,  # rarest_missing
        -0.93,  # rarest_missing_near
        -1.90,  # names_missing
        -1.67,  # found_nowhere
        0.41,  # pairs
        0.00,  # value
        -0.87,  # no_value
        0.00,  # value_and_words
        0.26,  # words
        -2.54,  # few_words
        -0.92,  # row
        1.42,  # rank
        1.76,  # asked_words
        1.59,  # typed
        0.00,  # refers
        0.00,  # wanted
        0.00,  # no_sentence
        5.79,  # unit_cosine
        0.00,  # cosine_lead
        0.77,  # hit_cosine
        0.30,  # best_cosine
    ),
    right=(
        1.40,  # in_unit
        0.00,  # in_context
        0.00,  # beside
        0.00,  # in_passage
        0.00,  # rarest_missing
        -1.01,  # rarest_missing_near
        0.00,  # names_missing
        -1.59,  # found_nowhere
        0.00,  # pairs
        0.00,  # value
        0.00,  # no_value
        0.00,  # value_and_words
        0.00,  # words
        0.00,  # few_words
        0.00,  # row
        0.00,  # rank
        1.50,  # asked_words
        0.00,  # typed
        0.00,  # refers
        0.00,  # wanted
        0.00,  # no_sentence
        1.62,  # unit_cosine
        0.00,  # cosine_lead
        0.00,  # hit_cosine
        0.00,  # best_cosine
    ),
    answerable_bias=-6.52,
    right_bias=-3.01,
)

WITHOUT_COSINES = Weights(
    rank=(
        3.78,  # in_unit
        2.27,  # in_context
        -0.69,  # beside
        -0.58,  # in_passage
        -0.56,  # rarest_missing
        -0.70,  # rarest_missing_near
        -0.28,  # names_missing
        0.00,  # found_nowhere
        1.14,  # pairs
        0.13,  # value
        -0.12,  # no_value
        1.85,  # value_and_words
        0.31,  # words
        -0.26,  # few_words
        0.14,  # row
        0.96,  # rank
        -0.01,  # asked_words
        0.00,  # typed
        -1.50,  # refers
        1.20,  # wanted
        -1.50,  # no_sentence
        0.00,  # unit_cosine
        0.00,  # cosine_lead
        0.00,  # hit_cosine
        0.00,  # best_cosine
    ),
    answerable=(
        0.71,  # in_unit
        0.00,  # in_context
        7.00,  # beside
        0.49,  # in_passage
        -0.65,  # rarest_missing
        -0.03,  # rarest_missing_near
        -1.85,  # names_missing
        -1.99,  # found_nowhere
        1.71,  # pairs
        0.00,  # value
        -0.77,  # no_value
        0.00,  # value_and_words
        0.03,  # words
        -2.47,  # few_words
        -1.71,  # row
        0.99,  # rank
        1.95,  # asked_words
        0.99,  # typed
        0.00,  # refers
        0.00,  # wanted
        0.00,  # no_sentence
        0.00,  # unit_cosine
        0.00,  # cosine_lead
        0.00,  # hit_cosine
        0.00,  # best_cosine
    ),
    right=(
        1.66,  # in_unit
        0.00,  # in_context
        0.00,  # beside
        0.00,  # in_passage
        0.00,  # rarest_missing
        -1.47,  # rarest_missing_near
        0.00,  # names_missing
        -0.94,  # found_nowhere
        0.00,  # pairs
        0.00,  # value
        0.00,  # no_value
        0.00,  # value_and_words
        0.00,  # words
        0.00,  # few_words
        0.00,  # row
        0.00,  # rank
        1.58,  # asked_words
        0.00,  # typed
        0.00,  # refers
        0.00,  # wanted
        0.00,  # no_sentence
        0.00,  # unit_cosine
        0.00,  # cosine_lead
        0.00,  # hit_cosine
        0.00,  # best_cosine
    ),
    answerable_bias=-2.84,
    right_bias=-2.32,
)
