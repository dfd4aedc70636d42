"""What `scripts/demo`, `scripts/test` and `scripts/check` do, with the standard library alone."""
