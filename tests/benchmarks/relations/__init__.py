"""Questions of one relation, and whether the extractive answer quotes the right sentence first."""
