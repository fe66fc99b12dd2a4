"""An sshd of the test's own: a high port on loopback, its own keys and configuration; nothing of the machine's is used."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess

import harness
from harness import check, until


def installed():
    return shutil.which("sshd") or next((p for p in ("/usr/sbin/sshd", "/usr/local/sbin/sshd") if os.access(p, os.X_OK)), None)


class Sshd:
    """As a context: it runs, and lets `user` in with `key`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.key, self.known_hosts = self.folder / "key", self.folder / "known_hosts"
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self.port = harness.free_port()
        self.process = None

    def options(self):
        """As config of the ssh provider."""
        return {"host": "127.0.0.1", "port": str(self.port), "user": self.user, "key": str(self.key),
                "known_hosts": str(self.known_hosts)}

    def __enter__(self):
        program = installed()
        check(program, "there is no sshd; install openssh-server (scripts/test does)")
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("host_key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)], check=True)
        authorised = self.folder / "authorized_keys"
        shutil.copy(self.folder / "key.pub", authorised)
        authorised.chmod(0o600)
        host = (self.folder / "host_key.pub").read_text().split()
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {host[0]} {host[1]}\n")
        config = self.folder / "sshd_config"
        config.write_text(f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host_key\n"
                          f"AuthorizedKeysFile {authorised}\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
                          f"PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\nMaxSessions 100\n")
        if os.getuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)   # sshd refuses to start without it
        with open(self.folder / "sshd.log", "ab") as log:
            self.process = subprocess.Popen([program, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True)
        until(lambda: self.process.poll() is not None or "Server listening" in self.log(), lambda: "sshd to listen: " + self.log())
        check(self.process.poll() is None, lambda: "sshd ended: " + self.log())
        return self

    def log(self):
        return (self.folder / "sshd.log").read_text(errors="replace")[-2000:]

    def __exit__(self, kind, error, trace):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=20)
