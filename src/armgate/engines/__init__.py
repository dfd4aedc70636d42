"""Engines (serve settings to argv, readiness, resolved settings) and the launchers that start them."""
