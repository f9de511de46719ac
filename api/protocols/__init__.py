"""Protocols of other products, so that their clients work with this server: OpenAI's, Ollama's and Dify's."""
