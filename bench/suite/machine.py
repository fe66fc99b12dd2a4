"""Facts about the machine and the moment, without which a figure says little."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

from suite.processes import ROOT


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
    }


def sentence(found):
    return (f"{found['cores']} cores, {found['cpu']}, {found['memory_mb']:,} MB, kernel {found['kernel']}, load before "
            f"{'/'.join(str(value) for value in found['load_before'])}, {found['date']}, commit {found['commit']}; "
            f"TLS {found['tls']}, authentication {found['authentication']}, {found['store']}")
