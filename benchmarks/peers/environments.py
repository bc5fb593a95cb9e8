"""Makes the peers' environments under build/peers, each from its requirements file:

python -m benchmarks.peers.environments

One that cannot be made is no error: its folder says why, and so do the results.
"""

import shutil
import subprocess
import sys

from benchmarks.peers.elsewhere import Environment
from benchmarks.peers.methods import ENVIRONMENTS


def make(environment: Environment) -> None:
    """Anew, unless it is there for the same requirements."""
    wanted = environment.requirements.read_text()
    ready = environment.folder / "ready.txt"
    if ready.is_file() and ready.read_text() == wanted:
        return
    shutil.rmtree(environment.folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", environment.folder], check=True)
    pip = [environment.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--requirement", environment.requirements], capture_output=True, text=True
    )
    if done.returncode == 0:
        ready.write_text(wanted)
        return
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    reason = lines[0].removeprefix("ERROR:").strip() if lines else "pip failed without a reason"
    environment.failure.write_text(reason)
    print(f"{environment.name}: did not install: {reason}", file=sys.stderr)


def main() -> None:
    for environment in ENVIRONMENTS:
        make(environment)


if __name__ == "__main__":
    main()
