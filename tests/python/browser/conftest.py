"""Debian's Chromium, and pages that watch what they do."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from report_runs import KINDS, Run

OpenPage = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium: install Debian's package of that name")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """The run of that kind, made when first asked for."""
    folder = tmp_path_factory.mktemp("reports")
    made: dict[str, Run] = {}

    def find(kind: str) -> Run:
        if kind not in made:
            made[kind] = KINDS[kind](folder / f"{kind}.html")
        return made[kind]

    return find


@pytest.fixture
def open_report(browser: Browser, run: Callable[[str], Run]) -> OpenPage:
    """Opens a report; at the end nothing may have failed, asked a network or opened a dialog."""

    @contextmanager
    def opened(kind: str, width: int = 1280, **context: Any) -> Iterator[Page]:
        report = run(kind)
        complaints: list[str] = []
        setting = browser.new_context(viewport={"width": width, "height": 900}, **context)
        page = setting.new_page()
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                request.url.partition("#")[0] == report.url
                or complaints.append(f"request: {request.url}")
            ),
        )
        page.goto(report.url)
        yield page
        setting.close()
        assert complaints == []

    return opened
