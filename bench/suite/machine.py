"""Facts about the machine and the moment, without which a figure says little."""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import tempfile

from suite import processes
from suite.processes import PROGRAMS, ROOT


def sync_facts():
    """How long a sync takes where the data is."""
    with tempfile.TemporaryDirectory(prefix="hodei-bench-") as folder:
        found = processes.measure(PROGRAMS / "bench-machine", "sync", "--file", folder + "/file")
        kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=False).stdout.strip()
    return {"filesystem": kind, "fdatasync_p50_us": round(1000 * found["p50_ms"]), "fdatasync_p99_us": round(1000 * found["p99_ms"])}


def facts():
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False)
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {
        "cores": os.cpu_count(),
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "memory_mb": int(memory.group(1)) // 1024,
        "kernel": platform.release(),
        "load_before": [round(value, 2) for value in os.getloadavg()],
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit.stdout.strip(),
        "tls": "off",
        "authentication": "off",
        "store": "SQLite, a sync per commit",
    } | sync_facts()


def sentence(found):
    return (f"{found['cores']} cores, {found['cpu']}, {found['memory_mb']:,} MB, kernel {found['kernel']}, fdatasync on "
            f"{found['filesystem']} {found['fdatasync_p50_us']}/{found['fdatasync_p99_us']} µs (p50/p99), load before "
            f"{'/'.join(str(value) for value in found['load_before'])}, {found['date']}, commit {found['commit']}; "
            f"TLS {found['tls']}, authentication {found['authentication']}, {found['store']}")
