"""What the numbers were made on."""

import platform
from pathlib import Path


def processor() -> str:
    """As the kernel names it, where it does."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8").splitlines() if facts.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
