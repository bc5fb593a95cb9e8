"""Pictures of the HTML report for docs/: a desktop, the same in the dark, a phone.

Run by `make figures`; needs Debian's Chromium.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures"
sys.path.append(str(ROOT / "tests" / "python" / "browser"))

from report_runs import binary, infeasible  # noqa: E402


def shoot(browser: Browser, url: str, name: str, width: int, height: int, **context: str) -> None:
    """What a window of this size shows of a page."""
    size = {"width": width, "height": height}
    page = browser.new_page(viewport=size, reduced_motion="reduce", **context)
    page.goto(url)
    page.wait_for_selector("svg[role=img]")
    page.screenshot(path=FIGURES / f"{name}.png")
    page.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        held = binary(Path(folder) / "binary.html").url
        broken = infeasible(Path(folder) / "infeasible.html").url
        shoot(browser, held, "report_light", 1200, 1130)
        shoot(browser, f"{held}#groups", "report_dark", 1200, 1000, color_scheme="dark")
        shoot(browser, broken, "report_infeasible", 1200, 1130)
        shoot(browser, held, "report_phone", 360, 780)
        browser.close()


if __name__ == "__main__":
    main()
