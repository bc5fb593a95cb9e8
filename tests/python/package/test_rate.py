"""Rates as Python objects: every expression says the same as its text."""

import pickle
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from bregboost import ConstraintError, RateExpression, parse, rate

# --- Random expressions, as objects, as text and as sums by hand ---

Sums = Counter[str]  # coefficient of each rate; the constant is that of ""

ATOMS = [
    ("error", rate.error()),
    ("fnr", rate.fnr()),
    ("fpr(sex=F)", rate.fpr(sex="F")),
    ("accuracy(site=b, class=2)", rate.accuracy(class_=2, site="b")),
    ('recall("a b"="c, d")', rate.recall(where={"a b": "c, d"})),
    ("selection_rate(predicted=x)", rate.selection_rate(predicted="x")),
]


def random_number(random: np.random.Generator) -> float:
    """Dyadic, so that sums and products of a few are exact."""
    return int(random.integers(-16, 17)) / 8


def random_expression(
    random: np.random.Generator, depth: int
) -> tuple[str, RateExpression, Sums] | None:
    """None where the rates cancel, which is no expression."""
    if depth == 0 or random.random() < 0.2:
        text, atom = ATOMS[random.integers(len(ATOMS))]
        return text, atom, Sums({text: Fraction(1)})
    left = random_expression(random, depth - 1)
    right = random_expression(random, depth - 1)
    if left is None or right is None:
        return None
    number = random_number(random)
    made: tuple[str, RateExpression, Sums]
    try:
        match random.integers(7):
            case 0:
                made = f"({left[0]}) + ({right[0]})", left[1] + right[1], plus(left[2], right[2])
            case 1:
                difference = plus(left[2], scaled(right[2], -1))
                made = f"({left[0]}) - ({right[0]})", left[1] - right[1], difference
            case 2:
                made = f"{number} * ({left[0]})", number * left[1], scaled(left[2], number)
            case 3:
                divisor = float(2 ** random.integers(0, 3)) * (1 if random.random() < 0.5 else -1)
                text = f"{'-' if divisor < 0 else ''}({left[0]}) / {abs(divisor)}"
                made = text, left[1] / divisor, scaled(left[2], 1 / divisor)
            case 4:
                made = f"-({left[0]})", -left[1], scaled(left[2], -1)
            case 5:
                shifted = plus(left[2], Sums({"": Fraction(number)}))
                made = f"{left[0]} + ({number})", left[1] + number, shifted
            case _:
                shifted = plus(scaled(left[2], -1), Sums({"": Fraction(number)}))
                made = f"{number} - ({left[0]})", number - left[1], shifted
    except ConstraintError as error:
        assert error.code == "no-rate"  # noqa: PT017 the only reason that may occur
        return None
    return made


def plus(a: Sums, b: Sums) -> Sums:
    return Sums({name: a[name] + b[name] for name in {*a, *b}})


def scaled(sums: Sums, factor: float) -> Sums:
    return Sums({name: value * Fraction(factor) for name, value in sums.items()})


def read_sums(text: str) -> Sums:
    """A canonical text, read without the parser."""
    for i, (atom, _) in enumerate(ATOMS):
        text = re.sub(re.escape(atom) + r"(?![\w(])", f"<{i}>", text)
    sums = Sums()
    terms = re.findall(r"([-+]?) ?(?:([0-9.e-]+) \* )?(?:<(\d)>|([0-9.e-]+)(%?))(?: |$)", text)
    for sign, factor, atom, constant, percent in terms:
        size = Fraction(factor or constant or "1") / (100 if percent else 1)
        sums[ATOMS[int(atom)][0] if atom else ""] += -size if sign == "-" else size
    return sums


def without_zeros(sums: Sums) -> dict[str, Fraction]:
    return {name: value for name, value in sums.items() if value != 0}


def test_operators_texts_and_arithmetic_by_hand_agree() -> None:
    random = np.random.default_rng(7)
    made = [random_expression(random, depth=4) for _ in range(1500)]
    expressions = [one for one in made if one is not None]
    assert len(expressions) > 800
    for text, expression, sums in expressions:
        assert RateExpression(repr(expression)) == expression, text
        for read in (expression, RateExpression(text)):  # rates that cancel on the way may swap
            assert without_zeros(read_sums(repr(read))) == without_zeros(sums), text
        assert pickle.loads(pickle.dumps(expression)) == expression


def test_comparisons_and_texts_agree() -> None:
    random = np.random.default_rng(8)
    compared = 0
    for _ in range(1500):
        left, right = random_expression(random, 3), random_expression(random, 2)
        number = random_number(random)
        if left is None or right is None:
            continue
        sides = [(left[1], right[1]), (left[1], number), (number, left[1])]
        a, b = sides[random.integers(3)]
        try:
            constraints = [a <= b, parse(f"{a} <= {b}")]
        except ConstraintError as error:
            assert error.code in {"bound-out-of-range", "no-rate"}  # noqa: PT017
            continue
        compared += 1
        assert constraints[0] == constraints[1] == parse(repr(constraints[0]))
        assert constraints[0] == (b >= a) or isinstance(a, type(b))
    assert compared > 500


def test_aggregates_and_texts_agree() -> None:
    random = np.random.default_rng(9)
    columns = [("sex",), ("race", "a b"), ("class",), ("by",)]
    texts = {"sex": "sex", "race": "race", "a b": '"a b"', "class": '"class"', "by": '"by"'}
    compared = 0
    for _ in range(300):
        made = random_expression(random, 2)
        if made is None:
            continue
        by = columns[random.integers(len(columns))]
        groups = texts[by[0]] if len(by) == 1 else f"({', '.join(map(texts.get, by))})"
        expression = RateExpression(made[1].text, by=by)
        for word, relation in (("gap", "<="), ("max", "<="), ("min", ">=")):
            aggregate = getattr(expression, word)()
            assert aggregate == getattr(made[1], word)(by=by)
            assert repr(aggregate) == f"{word}({made[1]}, by={groups})"
            try:
                expected = parse(f"{aggregate} {relation} 0.25")
            except ConstraintError as error:
                assert error.code in {"bound-out-of-range", "unknown-argument"}  # noqa: PT017
                continue
            compared += 1
            assert expected == (aggregate <= 0.25 if relation == "<=" else aggregate >= 0.25)
    assert compared > 200


# --- Rates and their arguments ---


@pytest.mark.parametrize("name", rate.__all__)
def test_every_rate_has_its_name_and_takes_conditions_and_groups(name: str) -> None:
    function = getattr(rate, name)
    assert repr(function()) == name
    assert repr(function(sex="F")) == f"{name}(sex=F)"
    assert repr(function(by="sex").min()) == f"min({name}, by=sex)"


def test_values_are_texts() -> None:
    assert repr(rate.error(class_=2)) == "error(class=2)"
    assert repr(rate.error(class_=np.int64(2))) == "error(class=2)"
    assert repr(rate.error(age=2.0, where={"score": 0.5})) == "error(age=2, score=0.5)"
    assert repr(rate.error(old=True)) == "error(old=True)"
    assert repr(rate.error(race=None)) == "error(race=<missing>)"
    assert repr(rate.error(job='say "hi", twice')) == r'error(job="say \"hi\", twice")'


def test_only_class_with_an_underscore_is_the_label() -> None:
    assert repr(rate.error(class_="a")) == "error(class=a)"
    assert repr(rate.error(where={"class": "a"})) == 'error("class"=a)'
    assert repr(rate.error(where={"by": 1, "predicted": 2})) == 'error("by"=1, "predicted"=2)'
    assert repr(rate.error(by="class_").max()) == "max(error, by=class)"
    assert repr(rate.error(by="class").max()) == 'max(error, by="class")'


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rate.fnr(class_=1), "fnr does not take class="),
        (lambda: rate.error(predicted=1), "error does not take predicted="),
        (lambda: rate.error(sex="F", where={"sex": "M"}), "sex is given twice"),
    ],
)
def test_arguments_are_those_of_the_grammar(call: object, message: str) -> None:
    with pytest.raises(ConstraintError, match=message) as caught:
        call()  # type: ignore[operator]
    assert caught.value.code == "unknown-argument"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rate.error("F"), "positional"),
        (lambda: rate.error(where=["sex"]), r"^where: \['sex'\] \(list\); allowed: a dict"),
        (lambda: rate.error(where={1: "F"}), r"^where: column 1 \(int\); allowed: names"),
        (lambda: rate.error(sex=["F", "M"]), r"^sex: .* \(list\); allowed: a single value"),
        (lambda: rate.error(where={"sex": {}}), r"^where\['sex'\]: .*; allowed: a single value"),
        (lambda: rate.error(by=3), r"^by: 3 \(int\); allowed: a column's name"),
        (lambda: rate.error(by=["sex", 3]), r"^by: .* \(list\); allowed: a column's name"),
        (lambda: rate.error().gap(), r"^by: missing in gap\(\); allowed: gap\(by='column'\)"),
        (lambda: rate.error(by="a").gap(by="b"), r"^by: b in gap\(\); allowed: none, .* by=a"),
        (lambda: RateExpression(5), r"^text: 5 \(int\); allowed: str"),  # type: ignore[arg-type]
        (lambda: rate.fnr() + "5%", r"^number: '5%' \(str\); allowed: a number"),
        (lambda: rate.fnr() <= "5%", r"^bound: '5%' \(str\); allowed: a number"),
        (lambda: rate.fnr() <= True, r"^bound: True \(bool\); allowed: a number"),
        (lambda: rate.fnr() <= np.array([0.1]), r"^bound: .* \(ndarray\); allowed: a number"),
        (lambda: rate.fnr(by="sex") <= 0.1, r"^by: sex in a comparison .*\.max\(\)"),
        (lambda: rate.fnr() <= rate.fpr(by="sex"), r"^by: sex in a comparison of 'fpr'"),
        (lambda: 0.1 <= rate.fnr() <= 0.2, "neither true nor false"),
        (lambda: rate.fnr(by="sex").gap() + 1, "unsupported operand"),
    ],
)
def test_type_errors_name_the_field(call: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), np.nan, -np.inf, 10**400])
def test_bounds_and_factors_are_finite(number: float) -> None:
    for call in (rate.fnr().__le__, rate.fnr().__ge__, rate.fnr(by="sex").gap().__le__):
        with pytest.raises(ValueError, match=r"^bound: .*; allowed: finite numbers"):
            call(number)
    for call in (rate.fnr().__mul__, rate.fnr().__add__, rate.fnr().__truediv__):
        with pytest.raises(ValueError, match=r"^number: .*; allowed: finite numbers"):
            call(number)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: rate.fnr() < 0.1, "strict-inequality"),
        (lambda: rate.fnr() > 0.1, "strict-inequality"),
        (lambda: rate.fnr(by="sex").gap() < 0.1, "strict-inequality"),
        (lambda: rate.fnr() <= 1.2, "bound-out-of-range"),
        (lambda: rate.fnr() * rate.fpr(), "syntax"),
        (lambda: 1 / rate.fpr(), "syntax"),
        (lambda: rate.fnr() / 0, "number-out-of-range"),
        (lambda: rate.fnr() - rate.fnr(), "no-rate"),
        (lambda: rate.precision() + rate.fnr(), "precision-not-linear"),
        (lambda: rate.precision() <= 0.5, "precision-upper-bound"),
        (lambda: rate.fnr(by="sex").gap() >= 0.1, "gap-lower-bound"),
        (lambda: rate.fnr(by="sex").ratio() <= 0.1, "ratio-upper-bound"),
        (lambda: rate.fnr(by="sex").max() >= 0.1, "aggregate-direction"),
        (lambda: rate.fnr(by="sex").gap() <= rate.fpr(), "aggregate-in-arithmetic"),
        (lambda: rate.fpr() >= rate.fnr(by="sex").gap(), "aggregate-in-arithmetic"),
        (lambda: (2 * rate.fnr(by="sex")).ratio() >= 0.8, "ratio-not-single-rate"),
    ],
)
def test_what_is_not_linear_is_refused_by_the_parser(call: object, code: str) -> None:
    with pytest.raises(ConstraintError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.code == code


def test_groups_survive_arithmetic() -> None:
    difference = rate.fnr(by="sex") - 2 * rate.fpr(by="sex") + 1
    assert difference.by == ("sex",)
    assert repr(difference) == "fnr - 2 * fpr + 100%, by=sex"
    assert (rate.fnr() + rate.fpr(by=["sex", "race"])).by == ("sex", "race")
    with pytest.raises(ValueError, match=r"^by: sex and race in one expression"):
        rate.fnr(by="sex") + rate.fpr(by="race")


def test_numpy_numbers_stand_on_either_side() -> None:
    assert (np.float64(0.05) >= rate.fnr()) == parse("fnr <= 5%")
    assert np.float64(2) * rate.fnr() == rate.fnr() * np.int32(2) == 2 * rate.fnr()
    assert sum([rate.fnr(), rate.fpr()]) == rate.fnr() + rate.fpr()


def test_equality_and_hash() -> None:
    assert len({rate.fnr(), rate.fnr(), rate.fnr(by="sex"), rate.fpr()}) == 3
    assert len({rate.fnr(by="sex").gap(), rate.fnr().gap(by=("sex",))}) == 1
    assert rate.fnr() != "fnr"
    assert rate.fnr(by="sex").gap() != "gap(fnr, by=sex)"
