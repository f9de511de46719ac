"""What language models are asked to do: one module each, with its prompt, its response model and one async function."""
