"""Launchers: how an arm's server comes to be there (a program, a container, or somebody else's doing)."""
