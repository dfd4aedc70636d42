"""The kinds of checks that a ladder may name, one module each."""
