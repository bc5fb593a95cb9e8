"""Reports: their text, their HTML, their numbers, their files."""

import copy
import json
import math
import pickle
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bregboost._report import Report
from report_samples import FNR, GAP, long_texts, small, with_limits, without_numbers

SMALL_TEXT = """\
1 of 2 limits holds on 9,000 unseen rows (out of fold)
  limit                     measured  95% interval  bound  holds  verdict        at 90%     rows
  fnr <= 5%                    4.87%      4.0-5.9%     5%  yes    certified      <= 4.98%    404
  gap(error, by=sex) <= 2%     2.31%                   2%  no     not certified  <= 4.10%  1,800
  - Not certified at 90% confidence: 1 limit not shown to hold
Groups
  - gap(error, by=sex) <= 2%: sex=F 12.31% (4,000 rows), sex=M 14.62% (13.7-15.6%; 5,000 rows)
What it costs
  - accuracy 91.20% on unseen rows
  - total violation 0.31 points
  - fnr <= 5%: one point more buys 0.40 points of accuracy (standard error 0.05)
  - gap(error, by=sex) <= 2%: broken; each point over is charged 5 points of accuracy
What stands in the way
  - no decision holds all limits; loosened by 0.31 points they can be held
  - limits in conflict: fnr <= 5%; gap(error, by=sex) <= 2%
  - fnr <= 5%: reaches 0.00% if nothing else counts
  - gap(error, by=sex) <= 2%: reaches 0.10% if nothing else counts
  - class=1, sex=F (418 rows) adds 64% of what is over the bounds
  - fnr <= 5%: 12 rows are too few to tell such a rate
  - gap(error, by=sex) <= 2%: needs about 4,400 more certification rows of sex=F (has 800)
How it was made
  learner         lightgbm, the mean of 5 fold models in one
  solver          auto, calibration path, rho 5
  validation      folds
  rows            9,000 training, 9,000 unseen, 1,800 certification
  positive class  1
  decision        temperature 1.31; offset -0.41
  ended           iteration limit, 100 steps kept
  seconds         3.2 training, 0.1 calibration, 0.4 certification
Warnings
  - 3 rows have no sex"""


class Page(HTMLParser):
    """Reads HTML and insists that every element is closed in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= {"style"}
        self.tags.add(tag)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


REPORTS = {
    "small": small(),
    "undefined": without_numbers(small()),
    "no limits": with_limits([]),
    "one limit": with_limits(["fnr <= 2%"]),
    "long limits": with_limits(long_texts(12)),
    "bare": {"constraints": []},
    "none": {key: None for key in small()},
}


def test_text_of_a_small_report() -> None:
    assert repr(Report(small())) == SMALL_TEXT
    assert str(Report(small())) == SMALL_TEXT


@pytest.mark.parametrize("data", REPORTS.values(), ids=REPORTS)
def test_text_fits_a_terminal(data: dict[str, Any]) -> None:
    lines = repr(Report(data)).splitlines()
    assert all(0 < len(line) <= 100 and line == line.rstrip() for line in lines)


@pytest.mark.parametrize("data", REPORTS.values(), ids=REPORTS)
def test_html_is_well_formed_and_has_no_scripts(data: dict[str, Any]) -> None:
    page = Page(Report(data)._repr_html_())
    assert page.tags <= {"div", "li", "span", "table", "tbody", "td", "th", "thead", "tr", "ul"}


def test_html_says_what_the_text_says() -> None:
    words = " ".join(Page(Report(small())._repr_html_()).texts)
    words = re.sub(r"\s+", " ", words)
    for cell in re.split(r"\s{2,}|\n", SMALL_TEXT):
        assert cell.removeprefix("- ") in words


def test_intervals_stand_where_they_are_known() -> None:
    data = with_limits(["fnr <= 2%", "gap(fnr, by=sex) <= 4%"])
    assert "interval" not in repr(Report(data))
    data["constraints"][0]["interval"] = [0.0, 0.00031]
    head, first, second = (
        re.split(r"\s{2,}", line.strip()) for line in repr(Report(data)).splitlines()[1:4]
    )
    assert head[:4] == ["limit", "measured", "95% interval", "bound"]
    assert first[:4] == ["fnr <= 2%", "3.00%", "0.000-0.031%", "2%"]
    assert second[:3] == ["gap(fnr, by=sex) <= 4%", "5.00%", "4%"]


def test_html_escapes_what_users_wrote() -> None:
    text = "error(class=<script>alert('&')</script>) <= 2%"
    data = with_limits([text], warnings=[text], classes=[text], offsets=[1.0], positive_class=text)
    html = Report(data)._repr_html_()
    assert "<script" not in html
    assert Page(html).texts.count(text) == 3  # the limit, the warning, the positive class


def test_long_limits_are_shown_whole() -> None:
    texts = long_texts(12)
    assert all(len(text) == 200 for text in texts)
    report = Report(with_limits(texts))
    limits = [line[2:] for line in repr(report).splitlines()[2 : 2 + 12 * 6]]
    shown = "".join(line.partition("  ")[0].replace(" ", "") for line in limits)
    for text in texts:
        assert text.replace(" ", "") in shown
        assert text in Page(report._repr_html_()).texts


def test_undefined_values_are_never_satisfied() -> None:
    data = without_numbers(small())
    for constraint in data["constraints"]:
        constraint["satisfied"] = True
    for verdict in data["certificate"]:
        verdict["verdict"] = "certified"
    report = Report(data | {"all_certified": True})
    lines = repr(report).splitlines()
    assert lines[0] == "0 of 2 limits hold on unseen rows (out of fold)"
    assert re.search(r"fnr <= 5% +undefined +undefined +no ", lines[2])
    assert not report.satisfied
    assert not report.certificate.all_certified
    assert report.metrics()["satisfied"] == report.metrics()["all_certified"] == 0


@pytest.mark.parametrize("nothing", [math.nan, np.float64("nan"), math.inf, None])
def test_nan_is_undefined(nothing: float | None) -> None:
    limit = {"text": FNR, "value": nothing, "bound": 0.05, "satisfied": True}
    report = Report({"constraints": [limit], "objective": nothing})
    assert "fnr <= 5%  undefined     5%  no" in repr(report)
    assert report.to_dict()["constraints"][0]["value"] is None
    assert report == Report({"constraints": [limit], "objective": None})


@pytest.mark.parametrize(
    ("held", "total", "expected"),
    [
        (0, 0, "No limits: a plain model"),
        (1, 1, "The limit holds on 40 held-out rows"),
        (0, 1, "The limit does not hold on 40 held-out rows"),
        (3, 3, "All 3 limits hold on 40 held-out rows"),
        (1, 3, "1 of 3 limits holds on 40 held-out rows"),
        (2, 3, "2 of 3 limits hold on 40 held-out rows"),
    ],
)
def test_first_line(held: int, total: int, expected: Any) -> None:
    limits = [
        {"text": f"fnr(a={j}) <= 5%", "value": 0.03, "bound": 0.05, "satisfied": j < held}
        for j in range(total)
    ]
    data = {"constraints": limits, "validation": "hold_out", "rows": {"unseen": 40, "training": 9}}
    assert repr(Report(data)).splitlines()[0] == expected


@pytest.mark.parametrize(
    ("validation", "expected"),
    [
        ("none", "The limit holds on 9 training rows"),
        ("own_rows", "The limit holds on 40 evaluation rows"),
    ],
)
def test_first_line_says_where_rates_were_measured(validation: str, expected: Any) -> None:
    limit = {"text": FNR, "value": 0.03, "bound": 0.05, "satisfied": True}
    rows = {"unseen": 40, "training": 9}
    text = repr(Report({"constraints": [limit], "validation": validation, "rows": rows}))
    assert text.splitlines()[0] == expected


def test_values_near_their_bounds_get_digits_enough() -> None:
    limits = [
        {"text": FNR, "value": 0.050004, "bound": 0.05, "satisfied": False},
        {"text": "fpr <= 5%", "value": 0.05, "bound": 0.05, "satisfied": True},
        {"text": "loss(a=b) <= 0.5", "value": 0.500001, "bound": 0.5, "satisfied": False},
    ]
    lines = repr(Report({"constraints": limits})).splitlines()
    assert [line.split()[-3] for line in lines[2:5]] == ["5.0004%", "5.00%", "0.500001"]


@pytest.mark.parametrize(
    ("price", "changes", "expected"),
    [
        ({"text": FNR, "price": 0.4}, {}, "fnr <= 5%: one point more buys 0.40 points of accuracy"),
        (
            {"text": "precision >= 60%", "price": 0.25, "standard_error": 0.031},
            {},
            "precision >= 60%: one point less buys 0.25 points of accuracy (standard error 0.031)",
        ),
        (
            {"text": FNR, "price": 0.002},
            {"objective_name": "fpr", "maximise": False},
            "fnr <= 5%: one point more takes 0.002 points off fpr",
        ),
        (
            {"text": "max(loss, by=a) <= 0.5", "price": 0.3, "standard_error": 0.2},
            {"objective_name": "loss", "maximise": False},
            "max(loss, by=a) <= 0.5: 0.01 more takes 0.003 off loss (standard error 0.002)",
        ),
        ({"text": FNR, "price": None}, {}, "fnr <= 5%: price undefined"),
    ],
)
def test_prices_in_words(price: dict[str, Any], changes: dict[str, Any], expected: Any) -> None:
    limit = {"text": price["text"], "value": 0.04, "bound": 0.05, "satisfied": True}
    data = small(constraints=[limit], prices=[price | {"binding": True}]) | changes
    assert f"  - {expected}" in repr(Report(data)).splitlines()


def test_price_of_confidence() -> None:
    sentence = "certified: accuracy 71.00%, where the decision that is only estimated has 91.20%"
    assert sentence in repr(Report(small(certified_point=0)))
    assert "certified: accuracy" not in repr(Report(small(certified_point=1)))


def test_limits_that_do_not_bind() -> None:
    free = {"text": FNR, "price": 0.0, "standard_error": 0.0, "binding": False}
    paid = {"text": GAP, "price": 0.5, "standard_error": 0.0, "binding": True}
    assert "no limit binds: loosening one buys nothing" in repr(Report(small(prices=[free])))
    assert "1 other limit does not bind" in repr(Report(small(prices=[free, paid])))
    assert "2 other limits do not bind" in repr(Report(small(prices=[free, free, paid])))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"feasible": True}, "a decision that holds every limit exists"),
        ({"feasible": True, "exact": False}, "exists, as far as the search found"),
        ({"relaxation": None}, "no decision holds all limits, however far they are loosened"),
        ({"binding": [FNR]}, "the limit that is out of reach: fnr <= 5%"),
        ({"alone": [{"text": FNR, "value": None}]}, "fnr <= 5%: reaches undefined if nothing"),
        (
            {"blocking": [{"cell": "class=1", "rows": None, "share": None}]},
            "class=1 (undefined rows) adds undefined of what is over the bounds",
        ),
    ],
)
def test_diagnosis(changes: dict[str, Any], expected: Any) -> None:
    data = small()
    data["diagnosis"] |= changes
    assert expected in repr(Report(data))


def test_a_feasible_diagnosis_is_silent_where_all_limits_hold() -> None:
    limit = {"text": FNR, "value": 0.04, "bound": 0.05, "satisfied": True}
    data = small(constraints=[limit], diagnosis={"feasible": True}, too_small=[], certificate=[])
    assert "What stands in the way" not in repr(Report(data))


def test_interrupted_fits_say_so_first() -> None:
    text = repr(Report(small(reason="interrupted", detail="by the user")))
    assert text.splitlines()[4] == "  - Interrupted: the best model so far"
    assert "interrupted (by the user), 100 steps kept" in text


def test_of_many_groups_the_extremes_are_shown() -> None:
    groups = [{"group": f"g={j}", "value": 0.01 * j, "rows": 10} for j in range(9)]
    groups.append({"group": "g=none", "value": None, "rows": 0})
    data = small()
    data["constraints"][1]["groups"] = groups
    line = repr(Report(data)).replace("\n   ", "")
    assert "g=0 0.00% (10 rows), g=1 1.00% (10 rows), g=2 2.00% (10 rows), g=7" in line
    assert "g=none undefined (0 rows); 4 between them" in line


def test_terminal_codes_in_names_are_shown_not_obeyed() -> None:
    data = with_limits(["error(class=\x1b[31m\nred) <= 2%"])
    for shown in (repr(Report(data)), Report(data)._repr_html_()):
        assert "\x1b" not in shown
        assert r"\x1b[31m\nred" in shown


def test_to_dict_is_a_copy_that_json_takes() -> None:
    given = small(objective=np.float32(0.5), rows={"training": np.int64(3)}, offsets=np.zeros(2))
    report = Report(given)
    data = report.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["objective"], data["rows"], data["offsets"]) == (0.5, {"training": 3}, [0.0, 0.0])
    data["constraints"][0]["value"] = 1.0
    given["constraints"][0]["value"] = 1.0
    assert report.to_dict()["constraints"][0]["value"] == 0.0487


def test_metrics() -> None:
    metrics = Report(small()).metrics()
    assert metrics["objective"] == 0.912
    assert metrics["violation"] == 0.0031
    assert metrics["satisfied"] == metrics["all_certified"] == 0.0
    assert metrics["rows/certification"] == 1800
    assert metrics["seconds/training"] == 3.21
    limit = {key: metrics[f"gap_error_by_sex_le_2pct/{key}"] for key in ("value", "bound")}
    assert limit == {"value": 0.0231, "bound": 0.02}
    assert metrics["fnr_le_5pct/certified"] == 1.0
    assert metrics["fnr_le_5pct/confidence_bound"] == 0.0498
    assert metrics["fnr_le_5pct/price"] == metrics["fnr_le_5pct/multiplier"] == 0.4


@pytest.mark.parametrize("data", REPORTS.values(), ids=REPORTS)
def test_metrics_are_what_mlflow_takes(data: dict[str, Any]) -> None:
    for name, value in Report(data).metrics().items():
        assert re.fullmatch(r"[/\w.\- ]{1,250}", name, re.ASCII)
        assert type(value) is float
        assert math.isfinite(value)


def test_metrics_of_limits_that_read_alike_are_kept_apart() -> None:
    texts = ['error(a="x y") <= 2%', "error(a=x_y) <= 2%", *long_texts(12)]
    metrics = Report(with_limits(texts)).metrics()
    assert sum(name.endswith("/value") for name in metrics) == 14


def test_save_and_load(tmp_path: Path) -> None:
    report = Report(small())
    report.save(tmp_path / "report.json")
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json") == report
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_failed_save_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    Report(small()).save(path)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        Report(small(objective=0.1)).save(path)
    assert [found.name for found in tmp_path.iterdir()] == ["report.json"]
    assert Report.load(path) == Report(small())


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a": 1}', b"\xff\xfe"])
def test_load_refuses_other_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"path: .*other\.json; allowed: "):
        Report.load(path)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (3, TypeError, r"data: 3 \(int\); allowed: a dict"),
        ({"a": 1}, ValueError, r"data: keys \['a'\]; allowed: with 'constraints'"),
        ({"constraints": "fnr"}, TypeError, r"data\['constraints'\]: 'fnr'; allowed: a list"),
        ({"constraints": [], "x": {1: 2}}, TypeError, r"data\['x'\]: key 1 \(int\); allowed: str"),
        (
            {"constraints": [object]},
            TypeError,
            r"data\['constraints'\]\[0\]: .* allowed: what JSON",
        ),
    ],
)
def test_bad_input(data: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Report(data)


def test_equality_and_copies() -> None:
    report = Report(small())
    assert report == Report(small())
    assert report != Report(small(objective=0.1))
    assert report != SMALL_TEXT
    assert pickle.loads(pickle.dumps(report)) == report
    assert copy.deepcopy(report) == report
    with pytest.raises(TypeError, match="unhashable"):
        hash(report)
