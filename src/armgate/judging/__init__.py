"""Pure functions from recorded evidence to verdicts."""
