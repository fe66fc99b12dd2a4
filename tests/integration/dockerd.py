"""A Docker engine of a test's own: private socket, data and state, no network of its own, ended with all it runs."""

import io
import json
import pathlib
import shutil
import signal
import subprocess
import tarfile
import tempfile

from harness import Failure, check, until

PATIENCE = 60.0   # seconds for the engine to answer, and to end


class Dockerd:
    def __init__(self):
        # A short path: it holds sockets.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-dockerd-", dir="/tmp"))
        self.socket = self.folder / "docker.sock"
        self.log = self.folder / "dockerd.log"
        self.process = None

    def __enter__(self):
        check(shutil.which("dockerd"), "dockerd is not there; install docker.io")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["dockerd", "--host", f"unix://{self.socket}", "--data-root", str(self.folder / "data"),
                 "--exec-root", str(self.folder / "exec"), "--pidfile", str(self.folder / "pid"),
                 # No bridge and no rules: containers use the host's network, and the machine's is left alone. vfs works
                 # on every file system.
                 "--bridge", "none", "--iptables=false", "--ip6tables=false", "--storage-driver", "vfs"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            until(self.answers, lambda: "dockerd to answer; its log ends with: " + self.tail(), PATIENCE)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def answers(self):
        check(self.process.poll() is None, lambda: f"dockerd ended with {self.process.returncode}: {self.tail()}")
        return self.try_docker("version", "--format", "{{.Server.Version}}").returncode == 0

    def tail(self):
        return self.log.read_text(errors="replace")[-2000:]

    def try_docker(self, *arguments, data=None):
        return subprocess.run(["docker", "--host", f"unix://{self.socket}", *(str(a) for a in arguments)],
                              input=data, stdin=None if data is not None else subprocess.DEVNULL, capture_output=True,
                              timeout=120, check=False)

    def docker(self, *arguments, data=None):
        """Runs `docker …` and answers with what it printed."""
        done = self.try_docker(*arguments, data=data)
        if done.returncode != 0:
            raise Failure(f"docker {' '.join(str(a) for a in arguments)} → {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode().strip()

    def image_from_scratch(self, name, files, entry, *changes):
        """An image that holds nothing but `files` (path there → file here); changes are lines of a Dockerfile."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            # Folders that are not in the archive would be root's alone.
            for folder in sorted({str(f).lstrip("/") for path in files for f in pathlib.PurePath(path).parents} - {""}):
                member = tarfile.TarInfo(folder)
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(member)
            for path, source in files.items():
                archive.add(pathlib.Path(source).resolve(), arcname=path.lstrip("/"))
        words = ", ".join(f'"{word}"' for word in entry)
        flags = [flag for change in (f"ENTRYPOINT [{words}]", *changes) for flag in ("--change", change)]
        self.docker("import", *flags, "-", name, data=packed.getvalue())
        return name

    def inspect(self, name):
        return json.loads(self.docker("inspect", name))[0]

    def containers(self):
        """The names of all, running or not."""
        return self.docker("ps", "--all", "--format", "{{.Names}}").split()

    def stop(self):
        if self.process.poll() is None:
            running = self.try_docker("ps", "--quiet", "--all").stdout.decode().split()
            if running:
                self.try_docker("rm", "--force", *running)
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.unmount_all()
        shutil.rmtree(self.folder, ignore_errors=True)

    def unmount_all(self):
        """What the engine leaves mounted when it ends: its network namespace, at least."""
        mounted = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        for path in reversed([m for m in mounted if m.startswith(f"{self.folder}/")]):
            subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)
