"""The web page as its users meet it: Chromium, a server process with its worker, and a scripted language model."""
