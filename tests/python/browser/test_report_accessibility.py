"""axe finds nothing serious, folded parts and both colour schemes included."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

KINDS = ("binary", "seven_classes", "infeasible", "two_hundred")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_serious(open_report: Callable[..., Any], kind: str, scheme: str) -> None:
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
