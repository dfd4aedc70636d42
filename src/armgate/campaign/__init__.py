"""The runner: wires plan, engines, client, ladder and records; the only place of effects."""
