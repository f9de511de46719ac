"""Diagnosis and repair of an installation."""
