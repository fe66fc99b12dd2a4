"""A server that cannot be opened because a port is taken: it says so, ends in good order, and leaves nothing behind."""

import pathlib
import socket

from harness import PATIENCE, Apart, contains, same, until


def processes_in(folder):
    """Command lines of the processes that have to do with a folder."""
    found = []
    for proc in pathlib.Path("/proc").iterdir():
        try:
            words = (proc / "cmdline").read_bytes() + (proc / "environ").read_bytes() if proc.name.isdigit() else b""
        except OSError:
            continue
        if str(folder).encode() in words:
            found.append(proc.name)
    return found


def test_a_taken_http_port_is_an_error_and_no_crash():
    with Apart(HODEI_PROCESS_ENABLED=1) as dev, socket.socket() as taken:
        # Something to do for the provider as soon as it starts.
        dev.start(worker=False)
        dev.ok("pool", "set", "warm", "--min", "2", "--provider", "process")
        until(lambda: len(dev.workers()) >= 2, "the pool to have its workers")
        dev.process.terminate()
        dev.process.wait(timeout=PATIENCE)
        until(lambda: not processes_in(dev.folder), "its workers to end")
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for _ in range(12):
            dev.launch(HODEI_HTTP_LISTEN=f"127.0.0.1:{port}", MALLOC_PERTURB_="165")
            same(dev.process.wait(timeout=PATIENCE), 1, f"exit code; its log: {dev.tail()}")
        contains(dev.tail(), f"127.0.0.1:{port}", "its log")
        until(lambda: not processes_in(dev.folder), "nothing to be left behind")
