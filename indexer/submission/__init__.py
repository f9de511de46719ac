"""Submissions from files, folders, JSON lines and JSON documents."""
