"""Runs pytest with the extension and the program of the preset asan-python.

The sanitizers' runtime must be in the process before all else, so it is preloaded. Python itself,
LightGBM, XGBoost and the other packages are as they come: of theirs only calls into the C library
are watched.

    scripts/asan_python.py <build folder> [arguments of pytest]
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Options of the sanitizers, with reasons where they differ from those of the C++ tests.
ASAN_OPTIONS = {
    "detect_leaks": 0,  # Python keeps what it has until it ends
    "detect_stack_use_after_return": 1,
    "strict_string_checks": 1,
    "allocator_may_return_null": 1,  # NumPy's way to a MemoryError
}
UBSAN_OPTIONS = {"print_stacktrace": 1, "halt_on_error": 1}


def packages_of(environment: Path) -> Path:
    return next((environment / "lib").glob("python3.*/site-packages"))


def make_environment(build: Path) -> Path:
    """An environment with the packages of this one, but for ours, which is the instrumented one."""
    environment = build / "environment"
    venv.create(environment, clear=True, symlinks=True)
    packages = packages_of(environment)
    for package in packages_of(Path(sys.prefix)).iterdir():
        # A .pth file would bring in the editable install.
        if "bregboost" not in package.name and package.suffix != ".pth":
            (packages / package.name).symlink_to(package)
    ours = packages / "bregboost"
    ours.mkdir()
    (extension,) = (build / "python" / "bindings").glob("_core*.so")
    for part in (*(ROOT / "python" / "src" / "bregboost").iterdir(), extension):
        (ours / part.name).symlink_to(part.resolve())
    return environment


def runtime(library: str, compiler: str) -> str:
    found = subprocess.run(
        [compiler, f"-print-file-name={library}"], check=True, capture_output=True, text=True
    )
    path = Path(found.stdout.strip())
    if not path.is_absolute():
        sys.exit(f"{library}: not found by {compiler}")
    return str(path)


def text(options: dict[str, int]) -> str:
    return ":".join(f"{name}={value}" for name, value in options.items())


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    environment = make_environment(build)
    # The C++ runtime as well: the sanitizers look for its functions before the extension loads it.
    preloaded = [
        runtime("libclang_rt.asan-x86_64.so", "clang++"),
        runtime("libstdc++.so.6", "clang++"),
    ]
    settings = {
        "ASAN_OPTIONS": text(ASAN_OPTIONS),
        "UBSAN_OPTIONS": text(UBSAN_OPTIONS),
        "BREGBOOST_BUILD_DIR": str(build),
        "BREGBOOST_SANITIZED": "1",  # skips what the marker `not_sanitized` says
        "LD_PRELOAD": " ".join(preloaded),
        "OMP_WAIT_POLICY": "passive",
        "PYTHONMALLOC": "malloc",  # of which the sanitizer knows
        "VIRTUAL_ENV": str(environment),
    }
    command = [environment / "bin" / "python", "-m", "pytest", *sys.argv[2:]]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}).returncode


if __name__ == "__main__":
    sys.exit(main())
