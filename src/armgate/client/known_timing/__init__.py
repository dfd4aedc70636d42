"""A chat completions server of known timing, a process of its own: what the client's error is measured on."""
