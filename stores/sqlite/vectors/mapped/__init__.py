"""Large collections of vectors in files that all processes of a data folder map, and the first pass over them."""
