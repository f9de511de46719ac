"""One module per port; each contains the contract class that every implementation of the port runs unchanged."""
