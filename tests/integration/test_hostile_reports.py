"""Jobs that report as fast and as much as they can, with a large secret: the worker keeps its lease, its memory and its time for
the others."""

import os
import pathlib
import re
import urllib.request

from harness import Dev, check, contains, free_port, same, until

LEASE = 6   # seconds

# Sends the same line again and again over several connections, and reads what is answered only now and then.
FLOOD = r'''
import os, pathlib, select, socket, sys, time
line = (sys.argv[1] + " " + "x" * int(sys.argv[2]) + "\n").encode() * int(sys.argv[3])
stop = pathlib.Path(sys.argv[4])
hello = f"hello {os.environ['HODEI_EXECUTION_ID']} {os.environ['HODEI_SOCKET_KEY']}\n".encode()
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ["HODEI_SOCKET"])
    s.sendall(hello)
    s.setblocking(False)
    return [s, b""]
connections = [connect() for _ in range(8)]
print("begins", flush=True)
while not stop.exists():
    for c in connections:
        try:
            c[1] = c[1] or line
            c[1] = c[1][c[0].send(c[1]):]
            c[0].recv(65536)
        except BlockingIOError:
            pass
        except OSError:
            time.sleep(0.01)
            c[:] = connect()
    select.select([c[0] for c in connections], [c[0] for c in connections], [], 0.05)
'''

# Holds as many connections as it gets, says nothing, and takes the place of each that is closed at once.
SQUAT = r'''
import os, pathlib, select, socket, sys
stop = pathlib.Path(sys.argv[1])
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ["HODEI_SOCKET"])
    return s
poll = select.poll()
held = {}
for _ in range(300):
    s = connect()
    held[s.fileno()] = s
    poll.register(s, select.POLLIN)
print("begins", flush=True)
while not stop.exists():
    for fd, _ in poll.poll(50):
        poll.unregister(fd)
        held.pop(fd).close()
        s = connect()
        held[s.fileno()] = s
        poll.register(s, select.POLLIN)
'''


class Watched(Dev):
    """A worker with a short lease, and what can be seen of its agent meanwhile."""

    def __init__(self):
        self.metrics = free_port()
        super().__init__(HODEI_LEASE=f"{LEASE}s", HODEI_SLOTS=8, HODEI_METRICS_LISTEN=f"127.0.0.1:{self.metrics}")
        self.age = 0.0

    def look(self):
        """Whether a heartbeat was acknowledged since the last look."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=LEASE) as answer:
            text = answer.read().decode()
        before, self.age = self.age, float(re.search(r"^hodei_worker_heartbeat_age_seconds (\S+)", text, re.M).group(1))
        check(self.age < LEASE * 2 / 3, f"no heartbeat was acknowledged for {self.age} s")
        return self.age < before

    def live_through(self, leases):
        """Until so many heartbeats were acknowledged as fit into that time."""
        wanted, seen = leases * 3, 0

        def enough():
            nonlocal seen
            seen += self.look()
            return seen >= wanted
        until(enough, lambda: f"{wanted} heartbeats; there were {seen}", patience=leases * LEASE * 3)

    def most_memory(self):
        status = pathlib.Path(f"/proc/{self.role('agent').pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) >> 10


def neighbour(dev, name):
    go = dev.folder / name
    return dev.submit("--attempts", "1", "--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.1; done; echo unhurt"), go


def flood(dev, line, size, count, *flags):
    stop = dev.folder / "stop"
    job = dev.submit(*flags, "--attempts", "1", "--", "python3", dev.write("flood.py", FLOOD), line, size, count, stop)
    until(lambda: "begins" in dev.ok("job", "logs", job).out, "the flood to begin")
    return job, stop


def ends_well(dev, job, go):
    go.touch()
    same(len(dev.wait_for(job, "Succeeded")["executions"]), 1, "attempts")


def test_a_flood_of_progress_with_a_large_secret_costs_nobody_else_anything():
    with Watched().start() as dev:
        dev.ok("secret", "set", "big", "--value-stdin", text="".join(f"{n * 7919 % 99991:05d}" for n in range(12_000)))
        other, go = neighbour(dev, "go")
        job, stop = flood(dev, "progress 1", 900, 100, "--secret", "big")
        dev.live_through(2)
        same(dev.state(job), "Running", "the one that floods")
        same(dev.get(job)["progress"]["percentage"], 1, "its progress")
        check(dev.most_memory() < 300, f"the agent took {dev.most_memory()} MiB")
        ends_well(dev, other, go)
        ends_well(dev, job, stop)


def test_a_flood_of_outputs_fills_no_memory():
    with Watched().start() as dev:
        other, go = neighbour(dev, "go")
        job, stop = flood(dev, "output key", 60_000, 20)
        dev.live_through(1)
        check(dev.most_memory() < 300, f"the agent took {dev.most_memory()} MiB")
        # Others are answered as if nothing were the matter.
        result = dev.ok("run", "--", "sh", "-ec", '"$HODEI_WORKER" output a=1; "$HODEI_WORKER" progress 50; echo told', timeout=30)
        contains(result.out, "told", "another job")
        ends_well(dev, other, go)
        ends_well(dev, job, stop)
        same(len(dev.get(job)["outputs"]["key"]), 60_000, "the output itself")


def test_a_job_that_holds_all_connections_shuts_out_nobody():
    with Watched().start() as dev:
        stop = dev.folder / "stop"
        os.chmod(dev.folder, 0o755)
        job = dev.submit("--", "python3", dev.write("squat.py", SQUAT), stop)
        until(lambda: "begins" in dev.ok("job", "logs", job).out, "it to begin")
        for n in range(3):
            result = dev.ok("run", "--", "sh", "-ec", f'"$HODEI_WORKER" output a={n}; echo told', timeout=30)
            contains(result.out, "told", "another job")
        ends_well(dev, job, stop)
