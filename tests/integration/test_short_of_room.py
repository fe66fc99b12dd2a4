"""A worker that lacks something, such as room on its disk, starts nothing for it: the jobs it was sent wait for it to get
better, or go to another worker. None of them fails, and no attempt is counted."""

import contextlib
import os
import subprocess

from harness import Apart, contains, number, same, until

AS_ROOT = os.geteuid() == 0


@contextlib.contextmanager
def small_disk(folder):
    """A file system with room for few files."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g,nr_inodes=64", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    try:
        for n in range(1000):
            (folder / f"ballast{n}").write_bytes(b"")
    except OSError:
        return
    raise AssertionError("the small disk does not fill")


def empty(folder):
    for each in folder.glob("ballast*"):
        each.unlink()


def test_a_worker_with_a_full_disk_fails_nothing():
    if not AS_ROOT:
        return
    with Apart(HODEI_STOP_GRACE="0s").start(worker=False) as server, small_disk(server.folder / "full"):
        agent = server.join("full", "--slots", "4")
        fill(server.folder / "full")
        script = server.write("x.sh", "echo script\n")
        data = server.write("input.txt", "data\n")
        jobs = [server.submit("--", "true"), server.submit("--script", str(script)),
                server.submit("--input", f"file://{data}=data", "--", "true")]
        for job in jobs:
            def sent_back(job=job):
                got = server.get(job)
                return got if got.get("executions") and got["state"] == "Pending" else None
            got = until(sent_back, f"{job} to be sent back")
            same(number(got.get("attempts")), 0, "attempts")
            contains(got["reason"], "No space left on device; the job had not started", "why it waits")
            same(got["executions"][0]["failure"], "infrastructure", "what its execution is called")
        same(server.wait_for(server.submit("--", "no-such-program"), "Failed", "Pending")["state"], "Pending", "any other job")
        # Another worker takes what this one cannot start.
        server.join("healthy", "--slots", "2")
        for job in jobs:
            got = server.wait_for(job, "Succeeded")
            same((got["worker_id"], number(got["attempts"])), ("healthy", 1), "who ran it, in which attempt")
        agent.terminate()
        same(agent.wait(timeout=30), 0, "exit code")


def test_a_worker_whose_disk_has_room_again_goes_on():
    if not AS_ROOT:
        return
    with Apart(HODEI_STOP_GRACE="0s").start(worker=False) as server, small_disk(server.folder / "full"):
        agent = server.join("full", "--slots", "1")
        fill(server.folder / "full")
        job = server.submit("--", "true")
        wrong = server.submit("--", "no-such-program")
        until(lambda: "No space left" in server.get(job).get("reason", ""), "the job to be sent back")
        empty(server.folder / "full")
        same(number(server.wait_for(job, "Succeeded")["attempts"]), 1, "attempts")
        same(server.wait_for(wrong, "Failed")["failure"], "command_not_found", "what is the job's own trouble")
        agent.terminate()
        same(agent.wait(timeout=30), 0, "exit code")
