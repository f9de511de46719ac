"""What a caller may see and use: the record and the container as the holder of a key sees them."""
