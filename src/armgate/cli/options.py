"""Options that several commands take, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WorkspaceOption = Annotated[
    Path | None, typer.Option("--workspace", help="Folder with campaigns/, contracts/, gates/.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
CampaignArgument = Annotated[Path, typer.Argument(help="The campaign file.", show_default=False)]
RunArgument = Annotated[Path, typer.Argument(help="A run's folder.", show_default=False)]
