"""Every launcher by the kind that campaigns declare."""

from __future__ import annotations

from armgate.engines.launchers.attach import Attach
from armgate.engines.launchers.container import InContainer
from armgate.engines.launchers.process import Process
from armgate.engines.launchers.protocol import Launcher

LAUNCHERS: dict[str, Launcher] = {"process": Process(), "container": InContainer(), "attach": Attach()}
