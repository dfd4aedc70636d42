"""The glossary as code: frozen types and pure functions over them, no I/O."""
