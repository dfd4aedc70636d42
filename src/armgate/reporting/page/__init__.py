"""The page of a run: view models of its facts, drawn by the templates under `templates/report/`."""
