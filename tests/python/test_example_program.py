"""What the example program says when it is asked for something it cannot do."""

import json
import subprocess
from pathlib import Path

import pytest

TABLE = """size,group,label,target
0.5,a,yes,1.0
-0.5,b,no,2.0
1.5,a,no,0.5
-1.5,b,yes,3.0
"""
LABEL = ("--label", "label", "--group", "group", "--group", "target")


@pytest.fixture
def complaint(constrained_linear: Path, tmp_path: Path):
    """Runs the program, expects it to fail as it should, and returns its one line on stderr."""
    data = tmp_path / "data.csv"
    data.write_text(TABLE)

    def run(*arguments: str, data: Path = data) -> str:
        out = tmp_path / "result.json"
        command = [constrained_linear, "--data", data, "--out", out, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stdout == ""
        assert not out.exists()
        assert done.stderr.startswith("constrained_linear: ")
        assert done.stderr.count("\n") == 1
        assert done.stderr.endswith("\n")
        return done.stderr

    return run


@pytest.mark.parametrize("limits", [[], ["fnr <= 90%"], ["fnr <= 90%", "error(group=a) <= 90%"]])
def test_the_table_itself_is_fine(constrained_linear, tmp_path, limits):
    data, out = tmp_path / "data.csv", tmp_path / "result.json"
    data.write_text(TABLE)
    command = [constrained_linear, "--data", data, "--out", out, "--l2", "0.1", *LABEL]
    command += [word for limit in limits for word in ("--constraint", limit)]
    subprocess.run(command, check=True, capture_output=True)
    result = json.loads(out.read_text())
    assert result["reason"] == "converged"
    assert [row["text"] for row in result["constraints"]] == limits


def test_missing_file(complaint, tmp_path):
    missing = tmp_path / "missing.csv"
    assert f"cannot read '{missing}'" in complaint(*LABEL, data=missing)


def test_unreadable_table(complaint, tmp_path):
    ragged = tmp_path / "ragged.csv"
    ragged.write_text(TABLE + "1,a,yes\n")
    assert "line 6, column 8: 3 fields" in complaint(*LABEL, data=ragged)


@pytest.mark.parametrize("option", ["--label", "--target", "--group", "--weight"])
def test_unknown_column(complaint, option):
    others = () if option in ("--label", "--target") else LABEL
    assert "no column 'colour'" in complaint(*others, option, "colour")


def test_column_that_is_not_numeric(complaint):
    line = complaint("--label", "label")
    assert "column 'group': 'a'" in line


def test_unknown_class_in_a_constraint(complaint):
    line = complaint(*LABEL, "--constraint", "error(class=maybe) <= 5%")
    assert "class 'maybe'" in line
    assert "allowed: no, yes" in line


def test_unknown_group_in_a_constraint(complaint):
    line = complaint(*LABEL, "--constraint", "error(group=c) <= 5%")
    assert "'c'" in line
    assert "allowed: a, b" in line


def test_unknown_positive_class(complaint):
    assert "positive: 'maybe'" in complaint(*LABEL, "--positive", "maybe")


def test_constraint_with_a_misspelt_rate(complaint):
    line = complaint(*LABEL, "--constraint", "fnrr <= 5%")
    assert "column 1" in line
    assert "did you mean 'fnr'?" in line


@pytest.mark.parametrize("arguments", [("--label", "label", "--target", "target"), ()])
def test_both_label_and_target_or_neither(complaint, arguments):
    assert "label, target: give one of them" in complaint(*arguments)


@pytest.mark.parametrize(
    ("option", "word"), [("--solver", "simplex"), ("--loss", "absolute"), ("--surrogate", "linear")]
)
def test_unknown_choice(complaint, option, word):
    line = complaint(*LABEL, option, word)
    assert f"'{word}'; allowed: " in line


def test_value_out_of_range(complaint):
    assert "l2: -1" in complaint(*LABEL, "--l2", "-1")


def test_option_that_does_not_exist(complaint):
    assert "--colour" in complaint(*LABEL, "--colour", "red")


def test_option_that_wants_a_number(complaint):
    assert "--l2" in complaint(*LABEL, "--l2", "much")
