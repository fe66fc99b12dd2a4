"""What jobs print: rules for output, `job logs` and its flags, and an agent that is replaced while a job prints."""

import base64
import json
import os
import shutil
import signal
import subprocess
import time

from harness import HODEI, Apart, Dev, Process, check, contains, number, same, until

# Prints COUNT numbered lines of 100 bytes, as fast as it can.
PRINTER = "import sys\nfor i in range({count}): sys.stdout.write('%099d\\n' % i)"
# Prints numbered lines until a file appears, slowly enough to be caught in the middle.
TICKER = """
import os, sys, time
i = 0
while not os.path.exists({go!r}):
    sys.stdout.write(''.join('%099d\\n' % n for n in range(i, i + 100)))
    sys.stdout.flush()
    i += 100
    time.sleep(0.005)
print('end', i)
"""


def raw_output(dev, job, *flags):
    """Every byte that the job wrote to stdout."""
    done = subprocess.run([str(HODEI), "job", "logs", "--raw", *flags, job], capture_output=True, env=dev.environment(),
                          cwd=dev.folder, check=False, timeout=120)
    same(done.returncode, 0, f"exit code of job logs: {done.stderr!r}")
    return done.stdout


def entries(dev, job, *flags):
    return [json.loads(line) for line in dev.ok("job", "logs", "-o", "json", *flags, job).out.splitlines()]


def expect_ticks(text):
    """The lines of TICKER, all of them once and in order."""
    lines = text.splitlines()
    count = int(lines[-1].split()[1])
    same(len(lines), count + 1, "lines")
    for i, line in enumerate(lines[:-1]):
        same(line, f"{i:099d}", f"line {i}")


def test_dropped_output_and_received_output_are_what_was_written():
    with Dev().start() as dev:
        job = dev.submit("--log-policy", "drop", "--log-rate", "100K", "--", "python3", "-c", PRINTER.format(count=50_000))
        execution = dev.wait_for(job, "Succeeded")["executions"][0]
        received = raw_output(dev, job)
        dropped = number(execution["dropped_bytes"])
        check(dropped > 0, "something was dropped")
        same(len(received) + dropped, 5_000_000, "bytes received and dropped")
        same(received.count(b"\n") + number(execution["dropped_lines"]), 50_000, "lines received and dropped")
        found = entries(dev, job)
        same(sum(e["gap"]["bytes"] for e in found if "gap" in e), dropped, "bytes of the gaps")
        same({e["gap"]["reason"] for e in found if "gap" in e}, {"dropped"}, "their reason")
        contains(dev.ok("job", "logs", job).err, "bytes of output are missing here (dropped)", "the note for people")
        worker = dev.ok("worker", "list", "-o", "json").json()
        until(lambda: str(execution["dropped_lines"]) in dev.ok("worker", "list", "-o", "json").out,
              f"a heartbeat to tell of dropped lines: {worker}", patience=40)


def test_output_beyond_its_size_is_counted_and_the_job_goes_on():
    with Dev().start() as dev:
        job = dev.submit("--log-limit", "10000", "--", "python3", "-c", PRINTER.format(count=100_000))
        execution = dev.wait_for(job, "Succeeded")["executions"][0]
        same(len(raw_output(dev, job)), 10_000, "bytes kept")
        same(number(execution["dropped_bytes"]), 9_990_000, "bytes dropped")
        same(number(execution["dropped_lines"]), 99_900, "lines dropped")
        last = entries(dev, job)[-1]
        same((last["gap"]["bytes"], last["offset"]), (9_990_000, 10_000), "the gap stands where the limit was reached")


def test_a_worker_may_limit_all_jobs():
    with Dev(HODEI_JOB_LOG_SIZE="5000").start() as dev:
        job = dev.submit("--log-limit", "1M", "--", "python3", "-c", PRINTER.format(count=1000))
        dev.wait_for(job, "Succeeded")
        same(len(raw_output(dev, job)), 5_000, "bytes kept: the stricter limit counts")


def test_a_rate_makes_a_job_wait_but_loses_nothing():
    with Dev().start() as dev:
        began = time.monotonic()
        job = dev.submit("--log-rate", "200K", "--", "python3", "-c", PRINTER.format(count=6_000))
        execution = dev.wait_for(job, "Succeeded")["executions"][0]
        # One bucket at once; what is left in the pipe at the end (64 KiB) is not waited for.
        check(time.monotonic() - began >= (600_000 - 2 * 204_800 - 65_536) / 204_800, "the rate held")
        same(number(execution.get("dropped_bytes")), 0, "bytes dropped")
        same(len(raw_output(dev, job)), 600_000, "bytes received")


def test_rules_for_output_are_checked():
    with Dev().start(worker=False) as dev:
        wrong = dev.cli("run", "--log-policy", "dorp", "--", "true")
        contains(wrong.err, "--log-policy", "the flag is named")
        contains(wrong.err, "drop", "a suggestion")
        file = dev.write("job.yaml", "command: {shell: {cmd: 'true'}}\nlogs: {max_bytes: -5}\n")
        contains(dev.cli("job", "submit", "--file", file).err, "logs.max_bytes", "the field is named")


def test_progress_bars_binary_and_long_lines():
    program = ("import sys, time\n"
               "for i in range(3):\n  sys.stdout.write('\\r%d %%' % (i * 50)); sys.stdout.flush(); time.sleep(0.15)\n"
               "print()\nsys.stdout.flush()\n"
               "sys.stdout.buffer.write(b'\\xff\\x00\\n' + b'x' * 200_000 + b'\\n' + b'tail')")
    whole = b"\r0 %\r50 %\r100 %\n\xff\x00\n" + b"x" * 200_000 + b"\ntail"
    with Dev().start() as dev:
        job = dev.submit("--", "python3", "-c", program)
        dev.wait_for(job, "Succeeded")
        same(raw_output(dev, job), whole, "every byte with --raw")
        shown = dev.ok("job", "logs", job).out
        check(shown.startswith("100 %\n"), f"the last state of a progress bar: {shown[:40]!r}")
        check(shown.endswith("x" * 200_000 + "\ntail"), "the long line in one, and the last without its end")
        found = entries(dev, job)
        joined = b""
        for e in found:
            joined += base64.b64decode(e["line_base64"]) if "line_base64" in e else e["line"].encode()
            joined += b"" if e["partial"] else b"\n"
        same(joined, whole, "every byte through JSON")
        check(any(e["partial"] and len(e["line"]) == 65_536 for e in found), "pieces of the long line are marked")
        same(found[-1]["next_offset"], len(whole), "where to go on")


def test_choosing_lines():
    program = "for i in 1 2 3 4 5 6; do echo out $i; echo err $i >&2; done"
    with Dev().start() as dev:
        job = dev.submit("--", "sh", "-c", program)
        dev.wait_for(job, "Succeeded")
        only_err = dev.ok("job", "logs", "--stderr-only", job)
        same((only_err.out, only_err.err.count("\n")), ("", 6), "--stderr-only")
        same(dev.ok("job", "logs", "--stdout-only", job).err, "", "--stdout-only")
        same(dev.ok("job", "logs", "--grep", "out [23]", job).out, "out 2\nout 3\n", "--grep")
        same(dev.ok("job", "logs", "--stdout-only", "--tail", "2", job).out, "out 5\nout 6\n", "--tail of chosen lines")
        same(len(entries(dev, job, "--tail", "3")), 3, "--tail")
        same(dev.ok("job", "logs", "--since", "1h", "--stdout-only", job).out.count("\n"), 6, "--since an hour ago")
        check("T" in dev.ok("job", "logs", "--timestamps", "--stdout-only", "--tail", "1", job).out.split()[0], "--timestamps")
        last = entries(dev, job)[-2]
        same(len(entries(dev, job, "--attempt", "1", "--offset", str(last["next_offset"]))), 1, "--offset goes on behind an entry")
        for flags, word in ((("--grep", "a("), "--grep"), (("--offset", "4"), "--attempt"), (("--raw", "--timestamps"), "--raw"),
                            (("--stdout-only", "--stderr-only"), "--stdout-only"), (("--since", "never"), "--since")):
            refused = dev.cli("job", "logs", *flags, job)
            same(refused.code, 2, f"exit code with {flags}")
            contains(refused.err, word, "the flag is named")


def test_the_tail_of_a_large_log_is_found_without_reading_it():
    with Dev().start() as dev:
        job = dev.submit("--", "python3", "-c", PRINTER.format(count=1_500_000))
        dev.wait_for(job, "Succeeded", patience=120)
        same(dev.ok("job", "logs", "--tail", "2", job).out, f"{1_499_998:099d}\n{1_499_999:099d}\n", "--tail of 150 MB")
        server = dev.role("server")
        before = io_read(server.pid)
        dev.ok("job", "logs", "--tail", "5", job)
        after = entries(dev, job, "--tail", "1")[0]["timestamp"]
        dev.ok("job", "logs", "--since", after, "--tail", "100", job)
        check(io_read(server.pid) - before < 30_000_000, lambda: f"the server read {io_read(server.pid) - before} bytes")


def io_read(pid):
    """Bytes that a process has read, also from the page cache."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        return int(next(line.split()[1] for line in file if line.startswith("rchar")))


def test_following_goes_on_when_the_server_was_killed():
    with Dev().start() as dev:
        go = dev.folder / "go"
        job = dev.submit("--", "python3", "-c", TICKER.format(go=str(go)))
        reader = dev.background("job", "logs", "-f", job)
        early = dev.background("job", "logs", "-f", "--tail", "1", job)
        for _ in range(2):
            until(lambda: number(dev.status().get("log_lines")) > 1000, "the job to print")
            dev.kill("server")
            dev.start()
        go.touch()
        out, err = reader.communicate(timeout=60)
        same(reader.returncode, 0, f"exit code: {err}")
        expect_ticks(out)
        out, err = early.communicate(timeout=60)
        numbers = [int(line) for line in out.splitlines()[:-1]]
        same(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "a tail goes on without loss or repetition")


class OwnBinary(Apart):
    """Agents run from a copy of the binary in the test's own folder, so that it can be replaced."""

    def copy_binary(self):
        """Puts a new file where the binary is, as an upgrade does: another inode under the same name."""
        shutil.copy2(HODEI, self.folder / "hodei.new")
        os.rename(self.folder / "hodei.new", self.folder / "hodei")
        return os.stat(self.folder / "hodei").st_ino

    def start_worker(self):
        with open(self.folder / "worker.log", "ab") as log:
            process = subprocess.Popen(
                [str(self.folder / "hodei"), "agent", "--state-dir", str(self.folder / "w"), "--worker-id", "w"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
                env=self.environment(HODEI_TOKEN=self.token()["token"]))
        self.remember(process.pid)
        self.clients.append(process)
        until(lambda: self.sees("w"), "the worker to join")
        return process

    @staticmethod
    def agent_of(supervisor):
        """The supervisor's child that is an agent."""
        children = subprocess.run(["pgrep", "-P", str(supervisor.pid), "-f", "attached-agent"], capture_output=True, text=True,
                                  check=False).stdout.split()
        return Process(children[0]) if children else None


def test_an_agent_killed_during_output_is_replaced_by_the_newer_binary_and_the_log_is_complete():
    with OwnBinary().start(worker=False) as server:
        server.copy_binary()
        supervisor = server.start_worker()
        go = server.folder / "go"
        job = server.submit("--", "python3", "-c", TICKER.format(go=str(go)))
        for _ in range(2):
            printed = number(server.status().get("log_lines"))
            until(lambda: number(server.status().get("log_lines")) > printed + 500, "the job to print")
            new_inode = server.copy_binary()
            agent = server.agent_of(supervisor)
            agent.send(signal.SIGKILL)
            until(lambda: not agent.alive(), "the agent to be gone")
            fresh = until(lambda: server.agent_of(supervisor), "a new agent")
            server.remember(fresh.pid)
            until(lambda: server.sees("w"), "the worker to come back")
            same(os.stat(f"/proc/{fresh.pid}/exe").st_ino, new_inode, "the file that the new agent runs")
        go.touch()
        done = server.wait_for(job, "Succeeded", patience=60)
        same(len(done["executions"]), 1, "executions: the job went on")
        same(number(done["executions"][0].get("dropped_bytes")), 0, "bytes dropped")
        expect_ticks(raw_output(server, job).decode())


def test_an_agent_that_cannot_be_used_gives_way_to_the_old_binary():
    with OwnBinary().start(worker=False) as server:
        server.copy_binary()
        supervisor = server.start_worker()
        broken = server.write("broken", "#!/bin/sh\nexit 1\n")
        broken.chmod(0o755)
        os.rename(broken, server.folder / "hodei")
        server.agent_of(supervisor).send(signal.SIGKILL)
        same(server.ok("run", "--", "echo", "still here", timeout=90).out, "still here\n", "a job after that")
