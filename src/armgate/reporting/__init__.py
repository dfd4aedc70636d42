"""What a run leaves behind: run folder, quality record, tables, checksums."""
