"""Running a model's code in a sandbox: tiers, the wire to the harness, execution records."""
