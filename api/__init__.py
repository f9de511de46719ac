"""HTTP: a router per noun, one table of errors, and the guard before them all."""
