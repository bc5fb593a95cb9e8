"""The HTML report as people use it: read, sorted, filtered, moved along, by mouse and keyboard.

Debian's Chromium opens reports of real fits, and pages watch what they do.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from bregboost import FrontierResult
from cli_program import Program
from playwright.sync_api import Browser, Page, expect, sync_playwright
from report_runs import EVIL, KINDS, Run

FOUR = ("binary", "seven_classes", "infeasible", "two_hundred")
# Marks of a chart that stand for data: dots, and lines with a course.
MARKS = "svg[role=img] g[data-mark=dot] > *, svg[role=img] g[data-mark=line] > path[d*=L]"

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium: install Debian's package of that name")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
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


def verdict(page: Page) -> str:
    banner = page.locator("#verdict h2")
    expect(banner).to_be_visible()
    return banner.inner_text()


def column(page: Page, table: str, place: int) -> list[str]:
    return page.locator(f"#{table} tbody tr:not([hidden]) > :nth-child({place})").all_inner_texts()


@pytest.mark.parametrize(
    ("kind", "charts"),
    [
        ("binary", {"limits", "groups", "frontier", "course"}),
        ("seven_classes", {"limits", "groups", "frontier", "course"}),
        ("infeasible", {"limits", "groups", "course"}),
        ("two_hundred", {"limits", "course"}),
        ("paper", {"limits", "course"}),
    ],
)
def test_charts_have_marks(open_report: OpenPage, kind: str, charts: set[str]) -> None:
    with open_report(kind) as page:
        places = page.locator("[data-chart]")
        assert {place.get_attribute("data-chart") for place in places.all()} == charts
        for place in places.all():
            expect(place).to_be_visible()
            assert place.locator(MARKS).count() > 0


def test_certified_limits_are_said_to_be(open_report: OpenPage, run: Callable[[str], Run]) -> None:
    assert run("binary").model.status_ == "certified"
    with open_report("binary") as page:
        assert verdict(page).startswith("All 2 limits are certified together: with 90% confidence")
        assert column(page, "limits-table", 2) == ["Certified", "Certified"]
        shown = page.locator("#limits-table tbody tr").all_inner_texts()
        for row in run("binary").model.report_.certificate:
            assert any(f"{100 * row.confidence_bound:.2f}%" in text for text in shown)
        assert "than the same learner without limits" in page.locator("#verdict p").inner_text()


def test_what_is_estimated_is_called_so(open_report: OpenPage) -> None:
    with open_report("seven_classes") as page:
        assert "This is an estimate: no rows were kept for a certificate." in verdict(page)
        assert set(column(page, "limits-table", 2)) == {"Estimated to hold"}
        assert page.locator("#limits-table").get_by_text("buys").count() > 0


def test_what_is_out_of_reach_is_explained(open_report: OpenPage) -> None:
    with open_report("infeasible") as page:
        assert re.match(r"2 of 3 limits are shown not to hold, with 90% confidence", verdict(page))
        obstacles = page.locator("#obstacles").inner_text()
        assert re.search(r"Loosened by [\d.]+ points, they can be held", obstacles)
        assert "Limits in conflict" in obstacles
        assert re.search(r"class=[01], region=\w+ \([\d,]+ rows\) adds", obstacles)


def test_training_rows_prove_nothing(open_report: OpenPage) -> None:
    with open_report("paper") as page:
        assert verdict(page).endswith("nothing is known about unseen rows.")


def test_tables_sort_by_click_and_keyboard(open_report: OpenPage) -> None:
    with open_report("two_hundred") as page:
        measured = page.get_by_role("button", name="Measured on unseen rows")
        measured.click()
        values = [float(text.split("%")[0]) for text in column(page, "limits-table", 4)]
        assert len(values) == 200
        assert values == sorted(values)
        heading = page.locator("#limits-table th", has=measured)
        expect(heading).to_have_attribute("aria-sort", "ascending")
        measured.focus()
        page.keyboard.press("Enter")
        values = [float(text.split("%")[0]) for text in column(page, "limits-table", 4)]
        assert values == sorted(values, reverse=True)
        page.get_by_role("button", name="Limit", exact=True).click()
        names = column(page, "limits-table", 1)
        assert names == sorted(names)
        expect(heading).not_to_have_attribute("aria-sort", re.compile(".*"))


def test_two_hundred_limits_stay_usable(open_report: OpenPage) -> None:
    with open_report("two_hundred") as page:
        moods = page.locator("#limits-table tbody tr").evaluate_all(
            "rows => rows.map(row => row.dataset.mood)"
        )
        assert moods == sorted(moods)  # bad, then open: broken limits come first
        assert "bad" in moods
        chart = page.locator("[data-chart=limits]")
        assert chart.locator(MARKS).count() <= 40
        assert "of 200 rows" in chart.inner_text()
        page.get_by_label("Filter by name").fill("fpr b042")
        assert column(page, "limits-table", 1) == ["fpr(branch=b042) <= 30%"]
        assert chart.locator(MARKS).count() == 1
        page.get_by_label("Filter by name").fill("")
        page.get_by_label("Show", exact=True).select_option("bad")
        assert len(column(page, "limits-table", 1)) == moods.count("bad")


def test_the_frontier_follows_the_keyboard(open_report: OpenPage) -> None:
    with open_report("binary") as page:
        page.locator("#frontier-title").scroll_into_view_if_needed()
        slider = page.get_by_label("Move along the frontier")
        for _ in range(60):
            page.keyboard.press("Tab")
            if slider.evaluate("slider => slider === document.activeElement"):
                break
        else:
            pytest.fail("the slider cannot be reached by Tab")
        point = page.locator(".point")
        assert point.locator("h3").inner_text().startswith("Bound 10%")  # of the model itself
        rates = point.locator("svg").text_content()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert point.locator("h3").inner_text().startswith("Bound 4%")
        assert slider.get_attribute("aria-valuetext") == point.locator("h3").inner_text()
        assert "sex=female" in point.locator("svg").text_content()
        assert point.locator("svg").text_content() != rates
        page.keyboard.press("Home")
        assert point.locator("h3").inner_text().startswith("Bound 1%")


def test_prices_change_along_the_frontier(open_report: OpenPage) -> None:
    with open_report("seven_classes") as page:
        slider = page.get_by_label("Move along the frontier")
        slider.focus()
        texts = []
        for key in ("Home", "ArrowRight", "ArrowRight"):
            page.keyboard.press(key)
            texts.append(page.locator(".point ul").inner_text())
        assert any("one point more buys" in text for text in texts)
        assert len(set(texts)) == 3


@pytest.mark.parametrize("kind", [*FOUR, "evil_names"])
def test_phones_do_not_scroll_sideways(open_report: OpenPage, kind: str) -> None:
    with open_report(kind, width=360) as page:
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = true; }")
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        box = page.locator("#limits .scroll")
        box.focus()
        assert box.evaluate(
            "box => box === document.activeElement && box.scrollWidth > box.clientWidth"
        )


def ran(page: Page) -> Any:
    """What a name has set, were it obeyed; and elements that are no part of a report."""
    page.wait_for_timeout(200)  # for images that fail and frames that load
    return page.evaluate("window.ran") or page.locator("img, iframe, svg[onload]").all()


def shown(page: Page) -> str:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    return page.locator("body").inner_text()


def test_names_are_shown_and_never_run(open_report: OpenPage) -> None:
    with open_report("evil_names") as page:  # which fails on errors and requests
        assert page.locator("h1").inner_text() == EVIL["title"]
        assert page.title() == EVIL["title"]
        text = shown(page)
        for place in EVIL.keys() - {"file"}:
            assert EVIL[place] in text, place
        assert 'it\'s "quoted"' in text
        for button in page.locator("th button").all():  # sorted, rows are made anew
            button.click()
        assert ran(page) == []


def test_names_of_files_are_shown_and_never_run(browser: Browser, cli: Program) -> None:
    (cli.folder / "rows.csv").rename(cli.folder / EVIL["file"])
    names = ("city", "income", "group")
    drops = [f"--drop={name}" for name in names]
    cli.train("--learner", "linear", *drops, data=EVIL["file"])
    page = browser.new_page()
    page.goto((cli.folder / "run" / "report.html").as_uri())
    assert EVIL["file"] in shown(page)
    assert ran(page) == []
    page.close()


@pytest.mark.parametrize("part", ["report", "certificate", "frontier"])
def test_notebooks_show_names_and_run_none(
    browser: Browser, run: Callable[[str], Run], part: str
) -> None:
    model = run("evil_names").model
    if part == "frontier":
        texts = [limit["text"] for limit in model.report_.to_dict()["constraints"]]
        points = [{"bound": 0.1, "measurements": [{"text": text} for text in texts]}]
        html = FrontierResult(points, constraint=1)._repr_html_()
    else:
        html = (model.report_ if part == "report" else model.report_.certificate)._repr_html_()
    page = browser.new_page()
    page.set_content(f"<!DOCTYPE html><body>{html}</body>")  # as a notebook does, without a policy
    text = page.locator("body").inner_text()
    assert EVIL["group"] in text
    assert EVIL["group column"] in text
    assert ran(page) == []
    page.close()


def test_verdict_and_tables_need_no_script(open_report: OpenPage) -> None:
    with open_report("binary", java_script_enabled=False) as page:
        assert verdict(page).startswith("All 2 limits are certified")
        assert len(column(page, "limits-table", 1)) == 2
        assert page.locator("#groups-table tbody tr").count() == 2
        assert page.locator("#frontier-table tbody tr").count() == 6
        expect(page.locator("[data-chart=limits]")).to_be_hidden()
        expect(page.get_by_text("Charts, sorting and filters need JavaScript")).to_be_visible()


def test_print_has_everything_on_white(open_report: OpenPage) -> None:
    with open_report("binary", color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(page.locator("#groups-table")).to_be_visible()
        expect(page.locator("nav")).to_be_hidden()
        colour = page.evaluate("getComputedStyle(document.body).color")
        assert max(map(int, re.findall(r"\d+", colour)[:3])) < 80  # dark ink


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", FOUR)
def test_axe_finds_nothing_serious(open_report: OpenPage, kind: str, scheme: str) -> None:
    with open_report(kind, color_scheme=scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        found = Axe().run(page).response
    assert len(found["passes"]) > 20  # it looked
    serious = [
        (rule["id"], node["html"][:200], node.get("failureSummary"))
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]
    assert serious == []
