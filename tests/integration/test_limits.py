"""Limits, usage, quotas and sandboxes of jobs, with real processes; trees that do not want to die, with and without cgroups."""

import contextlib
import os
import pathlib
import signal
import time
import uuid

from harness import Dev, check, contains, number, same, until

CGROUPS = pathlib.Path("/sys/fs/cgroup")
PYTHON = "/usr/bin/python3"   # Debian's: others may be scripts, or not there for the user of a sandbox
AS_ROOT = os.geteuid() == 0


def usage_of(job):
    return {name: number(value) for name, value in job["executions"][-1].get("usage", {}).items()}


def seconds_of(execution):
    """How long it ran, by its own times."""
    def moment(text):
        whole, _, fraction = text.rstrip("Z").partition(".")
        return time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0"))
    return moment(execution["ended_at"]) - moment(execution["started_at"])


def run_to_end(dev, *arguments, patience=60):
    return dev.wait_for(dev.submit(*arguments), patience=patience)


# Limits.

def test_a_job_that_takes_more_memory_than_its_limit_ends_as_oom():
    with Dev().start() as dev:
        job = run_to_end(dev, "--memory", "64M", "--", PYTHON, "-c", "x = b'x' * (300 << 20); print(len(x))")
        same(job["state"], "Failed", "state")
        same(job["failure"], "oom", "failure")
        same(job["executions"][-1]["failure_reason"], "oom", "reason of the execution")
        contains(job["reason"], "64 MiB", "reason")
        check(usage_of(job)["max_memory_kb"] <= 64 << 10, f"peak memory is within the limit: {usage_of(job)}")
        check(usage_of(job)["max_memory_kb"] > 60 << 10, f"peak memory is near the limit: {usage_of(job)}")
        # The next one in the same cgroup has a clean slate, and a limit of its own.
        job = run_to_end(dev, "--memory", "400M", "--", PYTHON, "-c", "x = b'x' * (200 << 20); print(len(x))")
        same(job["state"], "Succeeded", f"state ({job['reason']})")
        check(200 << 10 < usage_of(job)["max_memory_kb"] < 300 << 10, f"peak memory: {usage_of(job)}")


def test_a_child_that_is_ended_for_its_memory_fails_the_job_too():
    with Dev().start() as dev:
        job = run_to_end(dev, "--memory", "64M", "--", "sh", "-c", f"{PYTHON} -c \"b'x' * (300 << 20)\"; exit 0")
        same((job["state"], job["failure"]), ("Failed", "oom"), "how it ended")


# Hashing large pieces leaves Python's lock to the other threads: all four spin at once.
SPIN = """
import hashlib, threading, time
end = time.monotonic() + 2.5
piece = b"x" * (1 << 20)
def spin():
    while time.monotonic() < end:
        hashlib.sha256(piece)
threads = [threading.Thread(target=spin) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def spin(dev, *flags):
    """How many cores the four threads had."""
    job = run_to_end(dev, *flags, "--", PYTHON, "-c", SPIN)
    same(job["state"], "Succeeded", f"state ({job['reason']})")
    return usage_of(job)["cpu_ms"] / 1000 / seconds_of(job["executions"][-1])


def test_four_threads_with_half_a_core_use_half_a_core():
    with Dev().start() as dev:
        for _ in range(3):
            free, limited = spin(dev), spin(dev, "--cpu", "0.5")
            check(limited < 0.7, f"used {limited:.2f} cores")
            if limited > 0.3:
                break
        # On a machine that is busy with other things nobody gets half a core, limited or not.
        check(limited > 0.3 or free < 0.8, f"used {limited:.2f} cores, and {free:.2f} without a limit")


def test_four_threads_with_a_tenth_of_a_core_use_a_tenth():
    with Dev().start() as dev:
        share = spin(dev, "--cpu", "0.1")
        check(0.05 < share < 0.16, f"used {share:.2f} cores")


def test_a_job_has_no_more_processes_than_its_limit():
    with Dev().start() as dev:
        id = dev.submit("--pids", "10", "--", "sh", "-c", "for i in $(seq 30); do sleep 100 & echo $i; done")
        job = dev.wait_for(id)
        same(job["state"], "Failed", "state")
        out = dev.ok("job", "logs", id).out
        contains(out + dev.cli("job", "logs", id).err, "fork", "what the shell says")
        check(5 <= out.count("\n") <= 12, f"processes: {out!r}")
        same(run_to_end(dev, "--", "sh", "-c", "for i in $(seq 30); do sleep 0.1 & done; wait")["state"], "Succeeded",
             "a job without a limit of its own")


MEASURED = """
import sys, time, os
memory = b"x" * (40 << 20)
end = time.process_time() + 0.5
while time.process_time() < end: pass
print(open("/proc/self/cgroup").read(), flush=True)
while not os.path.exists(sys.argv[1]): time.sleep(0.02)
"""


def own_figures(text):
    """Of the cgroup that a job is in: cpu ms and peak memory in KiB, by the kernel's own files."""
    paths = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path.lstrip("/")
    memory = CGROUPS / "memory" / paths.get("memory", "")
    if (memory / "memory.max_usage_in_bytes").exists():
        if paths["cpuacct"]:
            cpu = int((CGROUPS / "cpuacct" / paths["cpuacct"] / "cpuacct.usage").read_text()) / 1e6
        else:   # counted by the group of version 2 that holds it
            cpu = int((CGROUPS / "unified" / paths[""] / "cpu.stat").read_text().split()[1]) / 1000
        return cpu, int((memory / "memory.max_usage_in_bytes").read_text()) / 1024
    v2 = CGROUPS / paths[""]
    cpu = dict(line.split() for line in (v2 / "cpu.stat").read_text().splitlines())
    return int(cpu["usage_usec"]) / 1000, int((v2 / "memory.peak").read_text()) / 1024


def test_the_usage_of_a_result_agrees_with_the_cgroup():
    with Dev().start() as dev:
        go = dev.folder / "go"
        id = dev.submit("--memory", "200M", "--cpu", "1", "--", PYTHON, "-c", MEASURED, go)
        text = until(lambda: dev.ok("job", "logs", id).out.strip(), "the job to tell its cgroups")
        cpu, memory = own_figures(text)
        go.touch()
        usage = usage_of(dev.wait_for(id, "Succeeded"))
        check(cpu >= 500 and memory >= 40 << 10, f"the cgroup counts: {cpu} ms, {memory} KiB")
        check(abs(usage["cpu_ms"] - cpu) < 150, f"cpu: the result says {usage['cpu_ms']}, the cgroup {cpu} ms")
        check(abs(usage["max_memory_kb"] - memory) < 1024, f"memory: {usage['max_memory_kb']}, the cgroup {memory} KiB")


def test_a_folder_over_its_quota_ends_the_job():
    with Dev().start() as dev:
        job = run_to_end(dev, "--storage", "10M", "--", "sh", "-c", "head -c 40M /dev/zero > big; sleep 300")
        same((job["state"], job["failure"]), ("Failed", "disk_quota"), "how it ended")
        contains(job["reason"], "10 MiB", "reason")
        same(run_to_end(dev, "--storage", "100M", "--", "sh", "-c", "head -c 40M /dev/zero > big; sleep 2")["state"],
             "Succeeded", "a job within its quota")


def test_without_cgroups_the_result_says_what_is_not_held():
    with Dev(HODEI_CGROUPS="off").start() as dev:
        job = run_to_end(dev, "--memory", "64M", "--cpu", "0.5", "--", PYTHON, "-c", "b'x' * (300 << 20)")
        same((job["state"], job["failure"]), ("Failed", "non_zero_exit"), "how it ended")
        contains(job["reason"], "cannot enforce these limits: cpu, memory (only per process", "reason")
        job = run_to_end(dev, "--pids", "5", "--", "true")
        same(job["state"], "Succeeded", "state")
        contains(job["reason"], "cannot enforce these limits: pids", "reason")
        contains((dev.data / "worker.log").read_text(), "cannot enforce these limits: cpu", "the worker's log")


# Trees that do not want to die. Each carries a word in its arguments by which its processes are found.

MANY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for batch in range(20):
    children = []
    for n in range(500):
        pid = os.fork()
        if pid == 0:
            if n % 3 == 0: os.setsid()
            if batch < 16: os._exit(0)
            while True: signal.pause()
        children.append(pid)
    if batch < 16:
        for pid in children: os.waitpid(pid, 0)
print("ready", flush=True)
while True: signal.pause()
"""
DAEMON = """
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        for fd in range(3): os.close(fd)
        while True: signal.pause()
    os._exit(0)
print("ready", flush=True)
while True: signal.pause()
"""
DEAF = """
import os, signal, sys
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
os.fork()
print("ready", flush=True)
while True: signal.pause()
"""
SESSIONS = """
import os, signal, sys
for n in range(5):
    if os.fork() == 0: os.setsid()
print("ready", flush=True)
while True: signal.pause()
"""
TREES = {"forks 10,000 children": MANY, "daemonises": DAEMON, "ignores SIGTERM": DEAF, "calls setsid": SESSIONS}


def processes_with(word):
    """Pids of living processes with this word among their arguments, clients of the test left out."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes()
            if word.encode() in line and line.startswith(PYTHON.encode()):
                found.append(int(entry.name))
    return found


def cancel_all_kinds(dev):
    for what, program in TREES.items():
        word = f"tree-{uuid.uuid4().hex}"
        id = dev.submit("--pids", "4000", "--kill-grace", "300ms", "--", PYTHON, "-c", program, word)
        try:
            until(lambda: "ready" in dev.ok("job", "logs", id).out, f"the tree that {what} to stand", patience=120)
            least = 2000 if program is MANY else 2
            check(len(processes_with(word)) >= least, f"a tree that {what} has {len(processes_with(word))} processes")
            dev.ok("job", "cancel", id)
            dev.wait_for(id, "Cancelled", patience=60)
            # The end is told only when nothing is left: no waiting here.
            same(processes_with(word), [], f"what is alive of a tree that {what}, after its end was told")
        finally:
            for pid in processes_with(word):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def test_nothing_of_a_cancelled_tree_is_left():
    with Dev().start() as dev:
        cancel_all_kinds(dev)


def test_nothing_of_a_cancelled_tree_is_left_with_cgroups_of_version_1():
    if not (CGROUPS / "freezer/tasks").exists():
        return
    with Dev(HODEI_CGROUPS="v1").start() as dev:
        contains((dev.data / "worker.log").read_text(), "contained by cgroup v1", "the worker's log")
        cancel_all_kinds(dev)


def test_nothing_of_a_cancelled_tree_is_left_without_cgroups():
    with Dev(HODEI_CGROUPS="off").start() as dev:
        contains((dev.data / "worker.log").read_text(), "contained by process groups", "the worker's log")
        cancel_all_kinds(dev)


# Sandboxes.

PROBE = """
import ctypes, os, socket, sys
def attempt(what, action):
    try:
        action()
        print(what, "yes")
    except OSError as error:
        print(what, os.strerror(error.errno))
def trace():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(0, 0, 0, 0) != 0: raise OSError(ctypes.get_errno(), "ptrace")
print("uid", os.getuid())
attempt("etc", lambda: open("/etc/hodei-probe", "w"))
attempt("tmp", lambda: open("/tmp/hodei-probe", "w"))
attempt("cwd", lambda: open("probe", "w"))
attempt("stranger", lambda: os.stat(sys.argv[1]))
attempt("network", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 5))
attempt("ptrace", trace)
"""


def probe(dev, *flags):
    stranger = pathlib.Path("/tmp") / f"hodei-stranger-{uuid.uuid4().hex}"
    stranger.touch()
    try:
        out = dev.ok("run", *flags, "--", PYTHON, "-c", PROBE, stranger, dev.port).out
    finally:
        stranger.unlink()
    return dict(line.split(" ", 1) for line in out.splitlines())


def test_a_sandboxed_job_is_shut_in():
    if not AS_ROOT:
        return
    with Dev().start() as dev:
        found = probe(dev, "--sandbox", "--memory", "100M")
        same(found, {"uid": "65534", "etc": "Read-only file system", "tmp": "yes", "cwd": "yes",
                     "stranger": "No such file or directory", "network": "Connection refused",
                     "ptrace": "Operation not permitted"}, "what it can do")
        check(not pathlib.Path("/tmp/hodei-probe").exists(), "its /tmp is its own")
        found = probe(dev, "--sandbox-user", "daemon", "--sandbox-allow", "network,syscalls")
        same((found["uid"], found["network"], found["ptrace"], found["etc"]), ("1", "yes", "yes", "Read-only file system"),
             "what it can do when parts are left out")
        # The folders that they had are as good as new for others.
        same(dev.ok("run", "--", "sh", "-c", "ls -A; touch a && echo yes").out, "yes\n", "a job after them")
        same(dev.ok("run", "--sandbox", "--script", "-", text="echo from $0 > file; cat file | wc -l").out, "1\n", "a script")


def test_a_sandbox_that_cannot_be_made_runs_nothing():
    if not AS_ROOT:
        return
    with Dev().start() as dev:
        job = run_to_end(dev, "--sandbox-user", "no-such-user", "--", "touch", dev.folder / "ran")
        same((job["state"], job["failure"]), ("Failed", "spawn_failed"), "how it ended")
        contains(job["reason"], "no-such-user", "reason")
        check(not (dev.folder / "ran").exists(), "it did not run")
