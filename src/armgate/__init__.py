"""Armgate: which arm may ship? Quality-gate campaigns with strict response contracts."""

__version__ = "0.1.0"
