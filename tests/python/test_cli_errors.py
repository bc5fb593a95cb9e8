"""Bad input: one line on stderr that says what is wrong, an exit code, and no output left."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_program import ENVIRONMENT

TRAIN = ["train", "--data", "rows.csv", "--label", "label", "--rounds", "3", "--out", "run"]
USAGE, DATA, LIBRARY, OUTPUT, NOT_HELD = 2, 3, 4, 5, 6


def train(*changes: str) -> list[str]:
    """The arguments of a training, with flags that replace or follow its own."""
    arguments = TRAIN.copy()
    for flag, value in zip(changes[::2], changes[1::2], strict=True):
        if flag in arguments and flag != "--constraint":
            arguments[arguments.index(flag) + 1] = value
        else:
            arguments += [flag, value]
    return arguments


def file(name: str, contents: str | bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        data = contents if isinstance(contents, bytes) else contents.encode()
        (folder / name).write_bytes(data)

    return write


def nothing(folder: Path) -> None:
    del folder


CASES = [
    ("no command", nothing, [], USAGE, "subcommand"),
    ("unknown command", nothing, ["trian"], USAGE, "trian"),
    ("unknown flag", nothing, [*TRAIN, "--fast"], USAGE, "--fast"),
    ("missing flag", nothing, ["train", "--data", "rows.csv", "--label", "label"], USAGE, "--out"),
    ("flag without value", nothing, [*TRAIN, "--rho"], USAGE, "--rho"),
    ("rho that is no number", nothing, train("--rho", "much"), USAGE,
     "--rho: 'much'; allowed: a finite number, at least 0"),
    ("negative rho", nothing, train("--rho", "-1"), USAGE,
     "--rho: '-1'; allowed: a finite number, at least 0"),
    ("rho without end", nothing, train("--rho", "inf"), USAGE, "--rho: 'inf'; allowed"),
    ("certify above 1", nothing, train("--certify", "1.5"), USAGE, "certify"),
    ("delta of 0", nothing, train("--delta", "0"), USAGE, "delta"),
    ("one fold", nothing, train("--folds", "1"), USAGE, "num_folds"),
    ("unknown validation", nothing, train("--validation", "loo"), USAGE, "loo"),
    ("unknown deploy", nothing, train("--deploy", "all"), USAGE, "deploy"),
    ("unknown learner", nothing, train("--learner", "forest"), USAGE, "forest"),
    ("unknown solver", nothing, train("--solver", "newton"), USAGE, "newton"),
    ("certify with abpp", nothing, train("--solver", "abpp", "--certify", "0.2"), USAGE, "certify"),
    ("unknown objective", nothing, train("--objective", "beauty"), USAGE, "beauty"),
    ("param without value", nothing, train("--param", "num_leaves"), USAGE, "name=value"),
    ("param that is none", nothing, train("--param", "num_leafs=3"), USAGE, "num_leafs"),
    ("param of a linear model", nothing,
     train("--learner", "linear", "--param", "l1=3", "--drop", "city"), DATA, "income"),
    ("param of a linear model of numbers", file("n.csv", "a,label\n1,0\n2,1\n3,0\n4,1\n"),
     train("--data", "n.csv", "--learner", "linear", "--param", "l1=3"), USAGE,
     "param: 'l1=3'; allowed for a linear model: none, see --l2"),
    ("no label", nothing, ["train", "--data", "rows.csv", "--out", "run"], USAGE, "label, target"),
    ("constraint that is no text of ours", nothing, train("--constraint", "fnr < 5%"), USAGE, "<="),
    ("unknown rate", nothing, train("--constraint", "fnrr <= 5%"), USAGE, "fnrr"),
    ("bound out of range", nothing, train("--constraint", "fnr <= 120%"), USAGE, "120%"),
    ("unknown group column", nothing, train("--constraint", "gap(fnr, by=sex) <= 5%"), DATA, "sex"),
    ("unknown group", nothing, train("--constraint", "fnr(group=z) <= 5%"), USAGE, "z"),
    ("unknown class", nothing, train("--constraint", "error(class=fair) <= 5%"), USAGE, "fair"),
    ("contradiction", nothing, [*train("--constraint", "fnr <= 5%"), "--constraint", "fnr >= 10%"],
     USAGE, "fnr"),
    ("missing file", nothing, train("--data", "none.csv"), DATA, "none.csv"),
    ("folder", lambda folder: (folder / "d.csv").mkdir(), train("--data", "d.csv"), DATA, "d.csv"),
    ("binary file", file("b.csv", bytes(range(256)) * 4), train("--data", "b.csv"), DATA, "b.csv"),
    ("empty file", file("e.csv", ""), train("--data", "e.csv"), DATA, "e.csv"),
    ("only a header", file("h.csv", "a,label\n"), train("--data", "h.csv"), DATA, "h.csv"),
    ("ragged", file("r.csv", "a,label\n1,0\n1,2,3\n"), train("--data", "r.csv"), DATA, "line 3"),
    ("bad UTF-8", file("u.csv", b"a,label\n1,\xff\xfe\n"), train("--data", "u.csv"), DATA, "UTF-8"),
    ("open quote", file("q.csv", 'a,label\n"1,0\n'), train("--data", "q.csv"), DATA, "q.csv"),
    ("duplicate columns", file("c.csv", "a,a,label\n1,2,0\n"), train("--data", "c.csv"), DATA, "a"),
    ("label with one value", file("o.csv", "a,label\n1,0\n2,0\n"), train("--data", "o.csv"), DATA,
     "label"),
    ("missing label", file("m.csv", "a,label\n1,0\n2,\n3,1\n"), train("--data", "m.csv"), DATA,
     "line 3"),
    ("unknown label column", nothing, train("--label", "lable"), DATA, "lable"),
    ("unknown drop", nothing, train("--drop", "agee"), DATA, "agee"),
    ("unknown positive class", nothing, train("--positive", "great"), DATA, "great"),
    ("text among numbers", nothing, train("--numeric", "city"), DATA, "line 2"),
    ("negative weight", file("w.csv", "a,b,label\n1,1,0\n-1,2,1\n2,3,0\n"),
     train("--data", "w.csv", "--weight", "a"), DATA, "weight"),
    ("truncated gzip", file("t.csv.gz", b"\x1f\x8b\x08\x00\x00\x00"), train("--data", "t.csv.gz"),
     DATA, "t.csv.gz"),
    ("LibSVM with a typing error", file("l.svm", "1 1:2 2;3\n"), train("--data", "l.svm"), DATA,
     "line 1"),
    *[(f"--{flag} with LibSVM text", nothing, [*train("--data", "l.svm"), f"--{flag}", "a"], USAGE,
       f"{flag}: given; allowed for LibSVM text, whose columns have no names: nothing but")
      for flag in ("target", "weight", "rate-weight", "group", "categorical", "numeric", "drop")],
    ("other label of LibSVM text", nothing, train("--data", "l.svm", "--label", "a"), USAGE,
     "label: given; allowed for LibSVM text"),
    ("delimiter of two characters", nothing, train("--delimiter", ";;"), USAGE, ";;"),
    ("missing config", nothing, [*TRAIN, "--config", "none.toml"], USAGE, "none.toml"),
    ("config that is no JSON", file("c.json", "{"), [*TRAIN, "--config", "c.json"], USAGE, "JSON"),
    ("config that is a list", file("c.json", '["rho"]'), [*TRAIN, "--config", "c.json"], USAGE,
     "'c.json': array; allowed: an object whose keys are flags"),
    ("config with a number beyond all", file("c.json", '{"rho": 1e999}'),
     [*TRAIN, "--config", "c.json"], USAGE, "number"),
    ("config of nested lists", file("c.json", '{"rho":' + "[" * 999 + "]" * 999 + "}"),
     [*TRAIN, "--config", "c.json"], USAGE, "nested deeper"),
    ("config with an unknown flag", file("c.toml", "fast = true\n"), [*TRAIN, "--config", "c.toml"],
     USAGE, "fast"),
    ("config with a flag that is neither on nor off", file("c.json", '{"force": "maybe"}'),
     [*TRAIN, "--config", "c.json"], USAGE, "'c.json': force: maybe; allowed: true, false"),
    ("library that is none", file("lib.so", "text"), train("--library", "lib.so"), LIBRARY,
     "lib.so"),
    ("linear model of texts", nothing, train("--learner", "linear"), DATA, "line"),
    ("run that is none", nothing, ["predict", "--model", "nowhere", "--data", "rows.csv", "--out",
                                   "p.csv"], DATA, "nowhere"),
    ("certify without limits", nothing, ["certify", "--data", "rows.csv", "--predicted", "label",
                                         "--label", "label"], USAGE, "constraint"),
    ("certify what is no class", nothing, ["certify", "--data", "rows.csv", "--predicted", "city",
                                           "--label", "label", "--constraint", "fnr <= 5%"], DATA,
     "predicted: 'Oslo'"),
    ("certify what is missing", file("m.csv", "p,label\n0,0\n,1\n1,1\n"),
     ["certify", "--data", "m.csv", "--predicted", "p", "--label", "label", "--constraint",
      "fnr <= 5%"], DATA, "m.csv, line 3: predicted: missing; allowed: a class"),
    ("certify without labels", nothing, ["certify", "--data", "rows.csv", "--predicted", "label",
                                         "--constraint", "fnr <= 5%"], USAGE,
     "label: none; allowed with --predicted: the column of labels"),
    ("certify nobody's decisions", nothing, ["certify", "--data", "rows.csv", "--label", "label",
                                             "--constraint", "fnr <= 5%"], USAGE,
     "model, predicted: both or none; allowed: one of them"),
    ("no name for results", nothing, train("--out", ""), USAGE,
     "out: ''; allowed: the name of a folder"),
    ("folder in the place of a file", lambda folder: (folder / "p.csv").mkdir(),
     ["predict", "--model", "run", "--data", "rows.csv", "--out", "p.csv"], OUTPUT,
     "out: cannot write 'p.csv': it is a folder"),
    ("sweep that is no rate", nothing, ["frontier", "--data", "rows.csv", "--label", "label",
                                        "--sweep", "beauty", "--from", "1%", "--to", "2%", "--out",
                                        "run"], USAGE, "beauty"),
    ("points that are none", nothing, ["frontier", "--data", "rows.csv", "--label", "label",
                                       "--sweep", "fnr", "--from", "1%", "--to", "2%", "--points",
                                       "0", "--out", "run"], USAGE, "points"),
    ("shell that is none", nothing, ["completion", "dos"], USAGE, "dos"),
]  # fmt: skip


@pytest.mark.parametrize(("prepare", "arguments", "code", "part"), [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])  # fmt: skip
def test_bad_input(cli, prepare, arguments, code, part):
    prepare(cli.folder)
    before = sorted(path.name for path in cli.folder.iterdir())
    done = cli.run(*arguments)
    assert done.returncode == code, done.stderr
    assert part in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("bregboost: ")]
    assert len(lines) == 1
    assert lines[0] == done.stderr.splitlines()[-1]
    assert sorted(path.name for path in cli.folder.iterdir()) == before


def test_there_are_enough_of_them():
    assert len(CASES) >= 30


def test_learner_that_is_not_installed(cli, tmp_path):
    empty = tmp_path / "venv"
    (empty / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    done = cli.run(
        *TRAIN, env={"VIRTUAL_ENV": str(empty), "PATH": str(empty), "LD_LIBRARY_PATH": ""}
    )
    assert done.returncode == LIBRARY
    assert "LightGBM" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (cli.folder / "run").exists()


def test_results_are_not_overwritten_unless_asked(cli):
    cli.train("--constraint", "fnr <= 20%")
    before = (cli.folder / "run" / "bregboost.json").read_text()
    done = cli.run(*TRAIN)
    assert done.returncode == OUTPUT
    assert "--force" in done.stderr
    assert (cli.folder / "run" / "bregboost.json").read_text() == before
    cli.ok(*TRAIN, "--force")
    assert (cli.folder / "run" / "bregboost.json").read_text() != before
    assert [path.name for path in cli.folder.iterdir() if path.name.startswith(".run")] == []

    cli.ok("predict", "--model", "run", "--data", "new.csv", "--out", "p.csv")
    predict = ["predict", "--model", "run", "--data", "new.csv", "--out", "p.csv"]
    assert cli.run(*predict).returncode == OUTPUT
    assert cli.run(*predict, "--force").returncode == 0


def test_a_failed_replacement_keeps_what_was_there(cli):
    cli.train("--constraint", "fnr <= 20%")
    before = (cli.folder / "run" / "model.txt").read_text()
    done = cli.run(*train("--data", "none.csv"), "--force")
    assert done.returncode == DATA
    assert (cli.folder / "run" / "model.txt").read_text() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_that_may_not_be_written(cli):
    (cli.folder / "locked").mkdir(mode=0o555)
    done = cli.run(*train("--out", "locked/run"))
    assert done.returncode == OUTPUT


def test_place_where_nothing_can_be_written(cli):
    done = cli.run(*train("--out", "rows.csv/run"))
    assert done.returncode == OUTPUT
    assert "rows.csv/run" in done.stderr


def test_full_disk(cli, tmp_path):
    """A tmpfs in a user namespace of its own, so that no privileges are needed."""
    small = tmp_path / "small"
    small.mkdir()
    script = (
        f"mount -t tmpfs -o size=16k tmpfs {small} && {cli.path} "
        + " ".join(train("--out", f"{small}/run"))
        + f"; code=$?; ls -A {small}; exit $code"
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        cwd=cli.folder, capture_output=True, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip()}")
    assert done.returncode == OUTPUT
    assert "No space left" in done.stderr
    assert done.stdout.strip() == ""  # neither results nor files


def test_a_numeric_target_has_no_rates_to_certify(cli):
    cli.ok(
        "train", "--data", "rows.csv", "--target", "age", "--rounds", "3", "--drop", "label",
        "--out", "run",
    )  # fmt: skip
    done = cli.run("certify", "--model", "run", "--data", "rows.csv", "--constraint", "loss <= 9")
    assert done.returncode == USAGE
    assert "model: of a numeric target; allowed: of classes." in done.stderr


def test_requirements_are_exit_codes(cli):
    arguments = ["--constraint", "fnr <= 40%", "--positive", "good", "--force"]
    cli.ok(*TRAIN, *arguments, "--require", "holds")
    done = cli.run(*TRAIN, *arguments, "--require", "certified")
    assert done.returncode == NOT_HELD
    assert (cli.folder / "run" / "model.txt").exists()
    evaluate = ["evaluate", "--model", "run", "--data", "new.csv"]
    tight = [*evaluate, "--constraint", "error <= 0.1%"]
    assert cli.run(*tight).returncode == 0
    assert cli.run(*tight, "--require", "holds").returncode == NOT_HELD
    certify = ["certify", "--model", "run", "--data", "new.csv", "--constraint", "fnr <= 1%"]
    assert cli.run(*certify).returncode == 0
    assert cli.run(*certify, "--require", "certified").returncode == NOT_HELD


@pytest.mark.parametrize("damage", ["{}", "no JSON", '{"format": "bregboost run", "version": 9}'])
def test_damaged_runs_are_named(cli, damage):
    cli.train("--constraint", "fnr <= 20%")
    (cli.folder / "run" / "bregboost.json").write_text(damage)
    for command in (["predict", "--model"], ["report", "--run"]):
        extra = ["--data", "new.csv"] if command[0] == "predict" else []
        done = cli.run(*command, "run", *extra, "--out", "x.out")
        assert done.returncode == DATA, done.stderr
        assert "bregboost.json" in done.stderr


def test_damaged_models_are_named(cli):
    cli.train("--constraint", "fnr <= 20%")
    (cli.folder / "run" / "model.txt").write_text("rows of something else")
    done = cli.run("predict", "--model", "run", "--data", "new.csv", "--out", "p.csv")
    assert done.returncode == DATA
    assert "model.txt" in done.stderr


def test_documents_are_json_without_nan(cli):
    document = cli.train("--constraint", "precision >= 99.9%", "--constraint", "fnr <= 1%")
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
def test_damaged_models_are_found(cli, learner):
    cli.train("--learner", learner)
    file = cli.folder / "run" / {"lightgbm": "model.txt", "xgboost": "model.ubj"}[learner]
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for damaged, text in (
        (whole[:-1], f"{len(whole) - 1} bytes; allowed: {len(whole)}, as when it was written"),
        (bytes(flipped), "another checksum; allowed: the one that it was written with"),
    ):
        file.write_bytes(damaged)
        done = cli.run("predict", "--model", "run", "--data", "new.csv", "--out", "predicted.csv")
        assert done.returncode == 3
        assert done.stderr.strip() == f"bregboost: 'run/{file.name}': model: {text}"
        assert not (cli.folder / "predicted.csv").exists()
