"""The files that images are built and run from, read and tried without a container engine."""
