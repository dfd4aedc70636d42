"""Option types of the contract clauses: what a contract file may say, by topic."""
