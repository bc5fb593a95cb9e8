"""Certificates: lookup, the joint claim, tables, and what is missing."""

import pickle
import sys
from typing import Any

import pytest
from bregboost._certificate import Certificate
from bregboost._report import Report
from report_samples import FNR, GAP, small


def verdict(**changes: object) -> dict[str, object]:
    return small()["certificate"][0] | changes


def test_lookup_by_text_by_constraint_and_by_place() -> None:
    class Written:
        def __str__(self) -> str:
            return GAP

    certificate = Report(small()).certificate
    assert [item.text for item in certificate] == [FNR, GAP]
    assert len(certificate) == 2
    assert certificate[FNR] is certificate[0]
    assert certificate[Written()] is certificate[-1]
    assert certificate.get("fpr <= 1%") is None
    with pytest.raises(KeyError, match="constraint: 'fpr <= 1%'; allowed: 'fnr <= 5%', 'gap"):
        certificate["fpr <= 1%"]


@pytest.mark.parametrize(
    ("verdicts", "flag", "expected"),
    [
        ([], True, False),
        ([verdict()], True, True),
        ([verdict()], False, False),
        ([verdict(), verdict(verdict="not certified")], True, False),
        ([verdict(value=None)], True, False),
        ([verdict(verdict=None)], True, False),
    ],
)
def test_all_certified(verdicts: list[dict[str, object]], flag: bool, expected: Any) -> None:
    assert Certificate(verdicts, flag).all_certified is expected


@pytest.mark.parametrize(
    ("verdicts", "flag", "expected"),
    [
        ([], False, "Nothing to certify"),
        ([verdict()], True, "Certified at 90% confidence"),
        ([verdict(), verdict(text=GAP)], True, "Certified at 90% confidence, all limits together"),
        (
            [verdict(verdict="estimated", confidence_bound=None)],
            False,
            "Estimated, not certified: no rows were kept for a certificate",
        ),
        (
            [verdict(verdict="violated"), verdict(verdict="not certified"), verdict(value=None)],
            False,
            "Not certified at 90% confidence: "
            "1 limit shown not to hold, 2 limits not shown to hold",
        ),
        ([verdict(confidence=0.975)], False, "Not certified at 97.5% confidence"),
        ([verdict(), verdict(text=GAP, confidence=0.8)], True, "Certified, all limits together"),
    ],
)
def test_headline(verdicts: list[dict[str, object]], flag: bool, expected: Any) -> None:
    assert repr(Certificate(verdicts, flag)).splitlines()[0] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "certified  <= 4.98%"),
        ({"verdict": "violated", "other_bound": 0.06}, "violated  >= 6.00%"),
        ({"verdict": "not certified", "confidence_bound": 0.0500001}, "not certified  <= 5.00001%"),
        (
            {"text": "precision >= 60%", "bound": 0.6, "confidence_bound": 0.62},
            "certified  >= 62.00%",
        ),
        (
            {"text": "precision >= 60%", "verdict": "violated", "other_bound": 0.55},
            "violated  <= 55.00%",
        ),
        (
            {"text": "max(loss, by=a) <= 0.5", "bound": 0.5, "confidence_bound": 0.4321},
            "certified  <= 0.4321",
        ),
    ],
)
def test_what_is_shown_at_this_confidence(changes: dict[str, Any], expected: Any) -> None:
    assert expected in repr(Certificate([verdict(**changes)], True))


def test_confidences_that_differ_stand_beside_their_bounds() -> None:
    text = repr(Certificate([verdict(), verdict(text=GAP, confidence=0.8)], False))
    assert "<= 4.98% at 90%" in text
    assert "<= 4.98% at 80%" in text


def test_estimates_have_no_column_of_bounds() -> None:
    text = repr(Certificate([verdict(verdict="estimated", confidence_bound=None)], False))
    assert text.splitlines()[1].split() == ["limit", "measured", "bound", "verdict", "rows"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"needs": "class=1", "rows_needed": 437},
            ["needs about 437 certification rows of class=1"],
        ),
        (
            {
                "needs": "class=1",
                "rows_needed": 437,
                "too_small": [{"subset": "class=1", "rows": 37, "rows_needed": 59}],
            },
            ["needs about 400 more certification rows of class=1 (has 37)"],
        ),
        (
            {"needs": "class=1", "rows_needed": None},
            ["measured too near its limit for more rows of class=1 to show it"],
        ),
        (
            {"too_small": [{"subset": "a=b", "rows": 0, "rows_needed": None}]},
            ["0 rows of a=b are too few to show it"],
        ),
        (
            {
                "verdict": "estimated",
                "too_small": [{"subset": "a=b", "rows": 9, "rows_needed": 59}],
            },
            ["a certificate needs about 59 rows of a=b kept for it"],
        ),
        ({"verdict": "violated", "needs": "class=1", "rows_needed": 437}, []),
        ({"verdict": "certified", "needs": "class=1", "rows_needed": 437}, []),
    ],
)
def test_missing_rows(changes: dict[str, Any], expected: Any) -> None:
    item = verdict(**({"verdict": "not certified"} | changes))
    lines = repr(Certificate([item], False)).splitlines()[3:]
    assert lines == [f"  - {FNR}: {sentence}" for sentence in expected]


def test_frame() -> None:
    frame = Report(small()).certificate.to_frame()
    assert list(frame["constraint"]) == [FNR, GAP]
    assert list(frame["confidence_bound"]) == [0.0498, 0.041]
    assert frame["rows_needed"].isna().tolist() == [True, False]
    assert frame["rows_needed"][1] == 5200
    assert list(frame["too_small"]) == ["", "sex=F (800 rows)"]


def test_frame_of_nothing_and_of_undefined_numbers() -> None:
    columns = list(Report(small()).certificate.to_frame().columns)
    assert list(Certificate([], False).to_frame().columns) == columns
    frame = Certificate([{"text": FNR, "verdict": "estimated"}], False).to_frame()
    assert frame.dtypes["value"] == "float64"
    assert frame["value"].isna().all()


def test_frame_without_pandas_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install bregboost\[pandas\]"):
        Report(small()).certificate.to_frame()


def test_equality_and_pickles() -> None:
    certificate = Report(small()).certificate
    assert pickle.loads(pickle.dumps(certificate)) == certificate
    assert certificate != Certificate([verdict()], False)


def test_verdicts_need_a_text() -> None:
    with pytest.raises(TypeError, match=r"verdicts\[0\]: .*; allowed: a dict with a 'text'"):
        Certificate([{"verdict": "certified"}], True)
