"""The views of a corpus: its entries are written, repaired and deleted here, and nowhere else."""
