"""Commands beside training: certificates, frontiers, reports, explanations, config files."""

import json
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
from cli_program import ENVIRONMENT, make_table

COMMANDS = ["train", "predict", "evaluate", "certify", "frontier", "report", "constraints"]


def test_a_run_leaves_model_document_and_report(cli):
    document = cli.train("--constraint", "fnr <= 20%", "--certify", "0.3", "--group", "group")
    files = {path.name for path in (cli.folder / "run").iterdir()}
    assert files == {"model.txt", "bregboost.json", "report.html"}
    assert document["format"] == "bregboost run"
    assert document["fit"]["constraints"][0]["text"] == "fnr <= 20%"
    assert document["fit"]["certificate"][0]["verdict"] in ("certified", "not certified")
    assert document["fit"]["history"]
    assert document["settings"]["seed"] == 0
    assert document["versions"]["lightgbm"][0].isdigit()
    assert document["data"]["groups"] == ["group"]
    html = (cli.folder / "run" / "report.html").read_text()
    assert "fnr &lt;= 20%" in html or "fnr \\u003c= 20%" in html


def test_what_limits_cost_is_against_the_same_learner_without(cli):
    document = cli.train("--constraint", "gap(selection_rate, by=group) <= 2%")
    assert document["unconstrained"]["objective"] >= document["fit"]["objective"] - 0.02
    document = cli.train(
        "--constraint", "gap(selection_rate, by=group) <= 2%", "--no-compare", out="alone"
    )
    assert document["unconstrained"] is None


def test_rounds_that_do_not_pay_are_dropped_unless_all_are_wanted(cli):
    limit = ("--constraint", "fnr <= 20%", "--param", "learning_rate=0.8")
    fewer = cli.train(*limit)
    assert fewer["fit"]["rounds_kept"] < 20
    assert fewer["settings"]["options"]["all_rounds"] is False
    every = cli.train(*limit, "--all-rounds", out="all")
    assert every["fit"]["rounds_kept"] == 20
    assert every["settings"]["options"]["all_rounds"] is True


def test_printed_json_is_the_document(cli):
    printed = cli.json(
        "train", "--data", "rows.csv", "--label", "label", "--out", "run", "--rounds", "5",
        "--constraint", "fnr <= 30%",
    )  # fmt: skip
    assert printed == json.loads((cli.folder / "run" / "bregboost.json").read_text())


@pytest.mark.parametrize("solver", ["abpp", "cbpr"])
def test_the_solvers_of_the_paper(cli, solver):
    document = cli.train("--solver", solver, "--constraint", "fnr <= 20%")
    assert document["fit"]["solver"] == solver
    cli.ok("predict", "--model", "run", "--data", "new.csv", "--out", "p.csv")


def test_rows_of_ones_own(cli):
    cli.write("more.csv", make_table(600, seed=8))
    cli.write("other.csv", make_table(600, seed=9))
    document = cli.train(
        "--constraint", "fnr <= 20%", "--eval-data", "more.csv", "--certify-data", "other.csv"
    )
    assert document["fit"]["rows"] == {"training": 1500, "unseen": 600, "certification": 600}


def test_certify_a_run_and_any_decisions_alike(cli):
    cli.train("--constraint", "fnr <= 40%", "--positive", "good")
    cli.ok("predict", "--model", "run", "--data", "new.csv", "--out", "p.csv")
    table = pd.read_csv(cli.folder / "new.csv")
    table["decision"] = pd.read_csv(cli.folder / "p.csv")["label"]
    cli.write("scored.csv", table)
    ours = cli.json("certify", "--model", "run", "--data", "new.csv", "--delta", "0.05")
    theirs = cli.json(
        "certify", "--predicted", "decision", "--data", "scored.csv", "--label", "label",
        "--positive", "good", "--constraint", "fnr <= 40%", "--delta", "0.05",
    )  # fmt: skip
    assert ours == theirs
    found = ours["certificate"][0] if "certificate" in ours else ours["constraints"][0]
    good = table["label"] == "good"
    assert found["value"] == pytest.approx((table["decision"][good] == "bad").mean())
    assert found["confidence"] == pytest.approx(0.95)


def test_rows_that_were_used_are_remembered(cli):
    cli.train("--constraint", "fnr <= 40%")
    arguments = ["certify", "--model", "run", "--data", "new.csv", "--log", "log.json"]
    assert "warning" not in cli.run(*arguments).stderr
    assert "warning" in cli.run(*arguments).stderr


def test_frontier(cli):
    cli.ok(
        "frontier", "--data", "rows.csv", "--label", "label", "--sweep", "fnr", "--from", "40%",
        "--to", "10%", "--points", "4", "--rounds", "10", "--out", "frontier",
    )  # fmt: skip
    points = pd.read_csv(cli.folder / "frontier" / "frontier.csv")
    assert points["bound"].tolist() == [0.4, 0.3, 0.2, 0.1]
    assert (np.diff(points["objective"]) <= 1e-9).all()  # tighter costs more
    document = json.loads((cli.folder / "frontier" / "bregboost.json").read_text())
    assert len(document["frontier"]["points"]) == 4
    held = points[points["violation"] == 0]["bound"].min()
    assert document["fit"]["constraints"][0]["bound"] == pytest.approx(held)
    cli.ok("predict", "--model", "frontier", "--data", "new.csv", "--out", "p.csv")


def test_a_ratio_is_swept_upwards(cli):
    cli.ok(
        "frontier", "--data", "rows.csv", "--label", "label", "--points", "2", "--rounds", "5",
        "--sweep", "ratio(selection_rate, by=group)", "--from", "60%", "--to", "80%",
        "--out", "frontier",
    )  # fmt: skip


def test_report_is_made_again(cli):
    cli.train("--constraint", "fnr <= 20%")
    cli.ok("report", "--run", "run", "--out", "again.html")
    first = (cli.folder / "run" / "report.html").read_bytes()
    assert (cli.folder / "again.html").read_bytes() == first


def test_constraints_are_explained(cli):
    text = cli.ok(
        "constraints", "--data", "rows.csv", "--label", "label", "--positive", "good",
        "--constraint", "gap(fnr, by=group) <= 5%", "--constraint", "5% >= fpr",
    )  # fmt: skip
    assert "gap(fnr, by=group) <= 5%" in text
    assert "share of positive rows that are missed differs by at most 5%" in text
    assert "fpr <= 5%" in text
    table = pd.read_csv(cli.folder / "rows.csv")
    found = cli.json(
        "constraints", "--data", "rows.csv", "--label", "label", "--positive", "good",
        "--constraint", "fnr <= 5%",
    )  # fmt: skip
    assert found[0]["rows"] == (table["label"] == "good").sum()


@pytest.mark.parametrize("name", ["flags.toml", "flags.json"])
def test_flags_from_a_file(cli, name):
    flags = {"data": "rows.csv", "label": "label", "constraint": ["fnr <= 20%", "fpr <= 90%"],
             "param": {"num_leaves": 7, "learning_rate": 0.2}, "rounds": 10, "no-compare": True,
             "out": "from_file"}  # fmt: skip
    if name.endswith("json"):
        text = json.dumps(flags)
    else:
        text = (
            'data = "rows.csv"\nlabel = "label"\nconstraint = ["fnr <= 20%", "fpr <= 90%"]\n'
            'rounds = 10\nno-compare = true\nout = "from_file"\n'
            "[param]\nnum_leaves = 7\nlearning_rate = 0.2\n"
        )
    (cli.folder / name).write_text(text)
    cli.ok("train", "--config", name)
    cli.ok(
        "train", "--data", "rows.csv", "--label", "label", "--constraint", "fnr <= 20%",
        "--constraint", "fpr <= 90%", "--param", "num_leaves=7", "--param", "learning_rate=0.2",
        "--rounds", "10", "--out", "from_flags",
    )  # fmt: skip
    models = [(cli.folder / run / "model.txt").read_text() for run in ("from_file", "from_flags")]
    assert models[0] == models[1]
    # What is on the command line wins.
    cli.ok("train", f"--config={name}", "--rounds", "4", "--out", "fewer")
    assert (cli.folder / "fewer" / "model.txt").read_text().count("Tree=") == 20


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(cli, command):
    text = cli.ok(command, "--help")
    assert f"bregboost {command}" in text
    assert "--json" in text
    assert "--config" in text


def test_help_names_the_exit_codes(cli):
    text = cli.ok("--help")
    for command in COMMANDS:
        assert command in text
    assert "Exit codes" in text
    assert cli.ok("--version").strip()[0].isdigit()


def test_bash_completes(cli):
    script = cli.ok("completion", "bash")
    (cli.folder / "completion.sh").write_text(script)
    typed = "source completion.sh; COMP_WORDS=(bregboost train --con); COMP_CWORD=2; _bregboost; "
    done = subprocess.run(
        ["bash", "-c", typed + 'echo "${COMPREPLY[@]}"'],
        cwd=cli.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(done.stdout.split()) == {"--config", "--constraint"}
    for shell in ("zsh", "fish"):
        assert "bregboost" in cli.ok("completion", shell)


def test_progress_is_quiet_when_asked_and_plain_in_pipes(cli):
    arguments = ["train", "--data", "rows.csv", "--label", "label", "--constraint", "fnr <= 20%",
                 "--rounds", "20", "--force", "--out", "run"]  # fmt: skip
    loud = cli.run(*arguments).stderr
    assert "step 10/10" in loud
    assert "objective" in loud
    assert "\x1b" not in loud
    assert cli.run(*arguments, "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["train", "--no-compare"], "interrupted: the model is of the steps made by then"),
        (["frontier", "--sweep", "error", "--from", "10%", "--to", "30%", "--points", "3"],
         "interrupted: the frontier is of the steps made by then"),
    ],
    ids=["train", "frontier"],
)  # fmt: skip
def test_ctrl_c_leaves_a_usable_model(cli, command, said):
    process = subprocess.Popen(
        [cli.path, *command, "--data", "rows.csv", "--label", "label", "--rounds", "100000",
         "--constraint", "fnr <= 20%", "--out", "run"],
        cwd=cli.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert "step" in process.stderr.readline()  # it has begun
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert error.splitlines()[-1] == f"bregboost: {said}"
    cli.ok("predict", "--model", "run", "--data", "new.csv", "--out", "p.csv")
    assert len(pd.read_csv(cli.folder / "p.csv")) == 300
