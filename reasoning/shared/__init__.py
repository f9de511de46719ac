"""Parts that several reasoners share."""
