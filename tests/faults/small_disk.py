"""A server whose data folder is a small file system of its own, for the tests that fill it."""

import shutil
import sqlite3
import subprocess

from fault import Skipped, say
from harness import Apart, same
from ledger_load import LedgerLoad


class SmallDisk(Apart):
    """Of `megabytes` the server keeps 64 in reserve."""

    def __init__(self, random, megabytes, lease):
        super().__init__(HODEI_LEASE=f"{lease}s")
        self.load = LedgerLoad(self, random)
        self.data.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", self.data], capture_output=True,
                                 text=True, check=False)
        if mounted.returncode != 0:
            shutil.rmtree(self.folder)
            raise Skipped(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
        self.ballast = self.data / "ballast"

    def __exit__(self, *error):
        self.stop()
        subprocess.run(["umount", "-l", self.data], check=False)
        super().__exit__(*error)

    def room(self):
        return shutil.disk_usage(self.data).free

    def grow(self, megabytes):
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", self.data], check=True)

    def fill(self, leave):
        """Takes room until only `leave` bytes are left."""
        with open(self.ballast, "ab") as file:
            try:
                while (excess := self.room() - leave) > 0:
                    file.write(b"x" * min(excess, 1 << 20))
                    file.flush()
            except OSError:
                pass   # full
        say(f"{self.room() >> 10} KiB are left")

    def refusal(self):
        """The words with which a submission is refused; None when it is taken."""
        result = self.cli("job", "submit", "-o", "name", "--retry-for", "0", "--", "true")
        return None if result.code == 0 else result.err

    def judge_files(self):
        for path in sorted(self.data.rglob("*.db")):
            with sqlite3.connect(path) as db:
                same(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)], f"integrity of {path.name}")
            say(f"{path.relative_to(self.data)}: integrity_check says ok")
