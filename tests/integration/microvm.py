"""What tests of microVMs need: a kernel and a root file system, Firecracker's double, and a look at what is really there."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import openapi
from harness import ROOT, check

BUILDER = ROOT / "scripts/firecracker/build-rootfs"
FILES = pathlib.Path(os.environ.get("HODEI_TEST_MICROVM", ROOT / "build/microvm"))
DOUBLE = ROOT / "tests/integration/fake_firecracker.py"


def build(*arguments):
    done = subprocess.run([str(BUILDER), *(str(a) for a in arguments)], capture_output=True, text=True, timeout=600, check=False)
    check(done.returncode == 0, lambda: f"build-rootfs {' '.join(map(str, arguments))} → {done.returncode}: {done.stderr[-2000:]}")
    return done.stderr


def files():
    """The folder with vmlinux and rootfs.ext4, made once."""
    check(os.geteuid() == 0, "microVMs need TAP devices: run these tests as root")
    if not (FILES / "rootfs.ext4").exists():
        build("--folder", FILES)
    return FILES


def options(folder=None):
    folder = folder or files()
    return {"kernel": folder / "vmlinux", "rootfs": folder / "rootfs.ext4", "images": folder / "images"}


class Double:
    """Firecracker and its jailer, as far as a provider sees them."""

    def __init__(self):
        openapi.test_data("firecracker", "firecracker.yaml")   # says so where it is not there
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-firecracker-"))
        self.notes = self.folder / "notes"
        self.notes.touch()
        self.notes.chmod(0o666)   # the jailed one writes there too
        for name in ("firecracker", "jailer"):
            (self.folder / name).symlink_to(DOUBLE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def options(self, jailer=False):
        return {"engine": "firecracker", "firecracker_binary": self.folder / "firecracker",
                "jailer_binary": self.folder / "jailer", "jailer": str(jailer).lower()}

    def environment(self):
        # Not named HODEI_…: a machine gets none of the server's own settings.
        return {"FAKE_FC_NOTES": str(self.notes), "FAKE_FC_DATA": str(openapi.DATA)}

    def told(self):
        return [json.loads(line) for line in self.notes.read_text().splitlines()]


def machines(folder):
    """Pids of all machines whose files are below this folder: each starts in its own and keeps it open, or named."""
    out = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            where = os.readlink(entry / "cwd")
        except OSError:
            continue
        runs = re.search(r"qemu-system|firecracker|jailer", words[0] + " ".join(words[1:2]))
        if runs and (where.startswith(str(folder)) or any(str(folder) in word for word in words)):
            out.append(int(entry.name))
    return out


def devices():
    """All network devices of microVMs; the server's own, which it holds only as long as it runs, is none of them."""
    return {name for name in os.listdir("/sys/class/net") if re.fullmatch(r"hd[0-9a-f]{13}", name)}


def abandoned(before):
    """New devices with no machine on them: those of other tests that run beside this one have one."""
    def attached(name):
        try:
            return pathlib.Path(f"/sys/class/net/{name}/carrier").read_text().strip() == "1"
        except OSError:
            return False
    return {name for name in devices() - before if not attached(name)} & devices()


def groups():
    """Control groups that a jailer has made."""
    root = pathlib.Path("/sys/fs/cgroup")
    ours = ("*firecracker*", "*/*firecracker*", "hodei-????????", "*/hodei-????????")
    return {str(p) for parent in ours for pattern in (parent, parent + "/*") for p in root.glob(pattern) if p.is_dir()}


def things(folder):
    """Everything that is there of machines with files below this folder, each by a word."""
    folder = pathlib.Path(folder)
    out = [f"process {pid}" for pid in machines(folder)]
    out += [f"folder {p.name}" for p in folder.glob("*") if not p.name.startswith(".")]
    out += [f"address {p.name}" for p in (folder / ".leases").glob("*")]
    return out
