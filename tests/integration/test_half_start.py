"""A server that cannot be opened because a port is taken: it says so, ends in good order, and leaves nothing behind."""

import os
import pathlib
import signal
import socket

import microvm
from harness import PATIENCE, Apart, check, contains, same, until
from test_microvm_boot import HANGS, Machines


def running(script):
    """The processes of this script."""
    found = []
    for proc in pathlib.Path("/proc").iterdir():
        try:
            if proc.name.isdigit() and str(script).encode() in (proc / "cmdline").read_bytes():
                found.append(int(proc.name))
        except OSError:
            continue
    return found


def test_a_taken_http_port_is_an_error_and_no_crash():
    with Apart() as dev, socket.socket() as taken:
        # Something to do for a provider as soon as it starts; its workers are processes that only wait.
        worker = dev.write("worker", "#!/bin/sh\nwhile :; do sleep 1; done\n")
        worker.chmod(0o755)
        dev.start(worker=False)
        dev.ok("provider", "add", "waiting", "--type", "process", "--option", f"binary={worker}")
        dev.ok("pool", "set", "warm", "--min", "2", "--provider", "waiting")
        until(lambda: running(worker), lambda: f"the pool to have a worker: {dev.ok('provider', 'list').out}")
        dev.process.terminate()
        dev.process.wait(timeout=PATIENCE)
        for pid in running(worker):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not running(worker), "its workers to end")
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for _ in range(12):
            dev.launch(HODEI_HTTP_LISTEN=f"127.0.0.1:{port}", MALLOC_PERTURB_="165")
            same(dev.process.wait(timeout=PATIENCE), 1, f"exit code; its log: {dev.tail()}")
        contains(dev.tail(), f"127.0.0.1:{port}", "its log")
        left = running(worker)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        check(not left, f"a server that was never open has left {len(left)} workers behind")


# Their provider opens a port for them at the gRPC host, from a thread of its own, as soon as a job waits for one.
def test_a_taken_http_port_leaves_no_microvm_behind_and_is_no_crash():
    with Machines(qemu=HANGS) as server, socket.socket() as taken:
        before = microvm.devices()
        server.start(worker=False)
        for n in range(1, 9):
            server.submit("--provider", "vm", "--cpu", f"0.{n}", "--", "true")   # a machine for each
        server.add(engine="qemu")
        server.kill("server")
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        kill_machines(server)
        try:
            for _ in range(6):
                server.launch(HODEI_HTTP_LISTEN=f"127.0.0.1:{port}", MALLOC_PERTURB_="165")
                same(server.process.wait(timeout=PATIENCE), 1, f"exit code; its log: {server.tail()}")
                same(server.machines(), [], "machines that a server that was never open has left behind")
        finally:
            kill_machines(server)
        contains(server.tail(), f"127.0.0.1:{port}", "its log")
        server.start(worker=False)   # which clears up behind the one that was killed
        for job in server.jobs():
            server.ok("job", "cancel", job["short_id"])
        until(lambda: not server.machines() and not microvm.devices() - before,
              lambda: f"nothing to be left: {server.machines()}, {microvm.devices() - before}")


def kill_machines(server):
    for pid in server.machines():
        os.kill(pid, signal.SIGKILL)
    until(lambda: not server.machines(), "the machines to end")
