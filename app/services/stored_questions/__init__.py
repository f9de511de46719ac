"""Questions that are answered in the background, stored, found again, asked again and compared."""
