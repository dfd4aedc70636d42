"""The timed stream reader, the recorder of exchanges and the attempt ledger."""
