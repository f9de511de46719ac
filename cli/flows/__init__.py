"""The steps of the longer commands, apart from their options and their output."""
