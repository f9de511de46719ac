"""Jobs, their queued revisions, and the claims under which workers process them."""
