"""A headless Chromium of the system, driven by Selenium: its media, what it logged, and what it asked for."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update")  # fmt: skip
"""`--no-sandbox`: tests may run as root, and Chromium then has no sandbox of its own."""


def missing() -> str | None:
    """Why no browser can be driven here, or `None`."""
    wanted = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"not installed: {', '.join(wanted)} (Debian: chromium chromium-driver)" if wanted else None


class Browser:
    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, anchor: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get(page.as_uri() + anchor)

    def media(self, scheme: str = "light", media: str = "screen") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._command("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def size(self, width: int, height: int = 1000) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._command("Emulation.setDeviceMetricsOverride", metrics)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._command("Page.captureScreenshot", {"format": "png"})["data"]))

    def requests(self) -> list[str]:
        """URLs that pages asked for since the last call."""
        told = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [t["params"]["request"]["url"] for t in told if t["method"] == "Network.requestWillBeSent"]

    def _command(self, name: str, parameters: dict[str, Any]) -> Any:
        return self.driver.execute_cdp_cmd(name, parameters)


@contextmanager
def chromium() -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
