"""The schema: creating, checking and migrating it."""
