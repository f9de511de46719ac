"""The bodies and responses about answers that were given."""
