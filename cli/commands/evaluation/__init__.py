"""Commands that measure or train on question sets. They import the whole application when they run."""
