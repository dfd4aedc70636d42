"""Server counters and process memory, scraped around gates and kept as evidence."""
