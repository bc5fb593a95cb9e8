"""Constraints as Python objects: text, equality, hash, copies, errors."""

import copy
import pickle

import pytest
from bregboost import Constraint, ConstraintError, RateExpression, as_constraints, parse, rate

TEXTS = [
    "fnr <= 5%",
    "error(class=SEKER) <= 1%",
    "gap(error, by=sex) <= 2%",
    "ratio(selection_rate, by=race) >= 80%",
    "selection_rate(predicted=urgent) <= 2%",
    "precision >= 60%",
    "fpr(sex=F) - fpr(sex=M) <= 1%",
    "gap(fnr, by=(sex, race)) <= 5%",
    "max(loss, by=region) <= 0.5",
    'error("marital status"="never married", race=Île) <= 30%',
]


@pytest.mark.parametrize("text", TEXTS)
def test_canonical_texts_are_shown_as_they_are(text: str) -> None:
    constraint = parse(text)
    assert repr(constraint) == str(constraint) == constraint.text == text
    assert parse(text) == constraint
    assert hash(parse(text)) == hash(constraint)


def test_bounds_are_the_same_in_percent_and_as_a_share() -> None:
    assert parse("fnr <= 2%") == parse("fnr <= 0.02") == (rate.fnr() <= 0.02)
    assert parse("5% >= fnr").bound == 0.05


def test_attributes() -> None:
    constraint = parse("gap(error(region=north, class=a), by=(sex, class2, region2)) <= 2%")
    assert constraint.bound == 0.02
    assert constraint.relation == "<="
    assert constraint.group_columns == ["region", "sex", "class2", "region2"]
    assert parse("recall(class=a) >= 90%").relation == ">="
    assert parse("recall(class=a) >= 90%").group_columns == []
    assert parse('error("class"=a) - error(sex=F) <= 0.1').group_columns == ["class", "sex"]
    with pytest.raises(AttributeError):
        constraint.bound = 0.5  # type: ignore[misc]


def test_different_constraints_are_not_equal() -> None:
    constraints = [parse(text) for text in TEXTS]
    assert len(set(constraints)) == len(TEXTS)
    assert parse("fnr <= 5%") != parse("fnr <= 6%")
    assert parse("fnr <= 5%") != "fnr <= 5%"


@pytest.mark.parametrize("text", TEXTS)
def test_copies_are_equal(text: str) -> None:
    constraint = parse(text)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(constraint, protocol)) == constraint
    assert copy.copy(constraint) == constraint
    assert copy.deepcopy([constraint]) == [constraint]


def test_a_constraint_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="neither true nor false; allowed: one comparison"):
        bool(parse("fnr <= 5%"))


def test_errors_carry_code_text_and_position() -> None:
    with pytest.raises(ConstraintError, match="did you mean 'fnr'") as caught:
        parse("2 * fnrr <= 5%")
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.code, error.text, error.position) == ("unknown-rate", "2 * fnrr <= 5%", 5)
    restored = pickle.loads(pickle.dumps(error))
    assert (restored.args, vars(restored)) == (error.args, vars(error))


def test_positions_count_characters() -> None:
    with pytest.raises(ConstraintError) as caught:
        parse("error(race=Île) <= x")
    assert caught.value.position == 20


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "syntax"),
        ("fnr", "syntax"),
        ("fnr < 5%", "strict-inequality"),
        ("fnr <= nan", "unknown-rate"),
        ("fnr <= 1e999", "number-out-of-range"),
        ("fnr <= 120%", "bound-out-of-range"),
        ("gap(fnr, by=sex) >= 1%", "gap-lower-bound"),
    ],
)
def test_error_codes(text: str, code: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        Constraint(text)
    assert caught.value.code == code


def test_another_bound_is_checked_as_in_a_text() -> None:
    limit = Constraint("fnr <= 5%")
    assert limit.with_bound(0.1) == Constraint("fnr <= 10%")
    with pytest.raises(ConstraintError) as caught:
        limit.with_bound(1.2)
    assert caught.value.code == "bound-out-of-range"
    with pytest.raises(ValueError, match=r"^bound: nan; allowed: a number$"):
        limit.with_bound(float("nan"))


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        parse(r'error(name="\xff") <= 5%')
    with pytest.raises(UnicodeDecodeError):
        RateExpression(r'error(name="\xff")')


@pytest.mark.parametrize("text", [None, 5, b"fnr <= 5%", ["fnr <= 5%"]])
def test_only_text_is_parsed(text: object) -> None:
    with pytest.raises(TypeError, match=r"text: .*; allowed: str"):
        parse(text)  # type: ignore[arg-type]


def test_as_constraints_takes_what_users_write() -> None:
    limit = rate.error(by="sex").gap() <= 0.02
    assert as_constraints("fnr <= 5%") == [parse("fnr <= 5%")]
    assert as_constraints(limit) == [limit]
    assert as_constraints(("fnr <= 5%", limit)) == [parse("fnr <= 5%"), limit]
    assert as_constraints([]) == []


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (None, r"^constraints: None \(NoneType\); allowed: text"),
        ({"fnr": 0.05}, r"^constraints: \{.*\} \(dict\); allowed: text"),
        (["fnr <= 5%", 3], r"^constraints\[1\]: 3 \(int\); allowed: text"),
        ([rate.fnr()], r"^constraints\[0\]: fnr \(RateExpression\); .*lacks a bound"),
        ([rate.fnr(by="sex").gap()], r"^constraints\[0\]: gap\(fnr, by=sex\) .*lacks a bound"),
        ([rate.fnr() == 0.05], r"^constraints\[0\]: False \(bool\); .*<= and >= alone"),
    ],
)
def test_as_constraints_names_the_place(constraints: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        as_constraints(constraints)  # type: ignore[arg-type]


def test_as_constraints_passes_on_errors_of_texts() -> None:
    with pytest.raises(ConstraintError, match="'fnrr'"):
        as_constraints(["fnr <= 5%", "fnrr <= 5%"])
