"""Entities that may be one: the fit of the probability on training sets, and its measurement on development sets."""
