"""A graceful restart of the server while calls are open that would otherwise last for ever: it is quick, every call ends with
a hint, and no running job notices."""

import os
import signal
import time

from harness import Apart, check, path_of, until

QUICK = 5.0     # seconds: the promise is two on a quiet machine; a server that waits for its calls takes forty

# A job that its cancel cannot end soon.
STUBBORN = ("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done")


def stop_quickly(server, what):
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(timeout=60)
    took = time.monotonic() - began
    check(took < QUICK, f"with {what} open the server took {took:.1f} s to stop")


def test_a_restart_is_quick_and_unnoticed_whatever_calls_are_open():
    with Apart(HODEI_LEASE="10s").start(worker=False) as server:
        server.join("w1", "--slots", "4")
        steady = server.submit("--", "sleep", "1000")
        stubborn = server.submit("--kill-grace", "10m", "--", *STUBBORN)
        for job in (steady, stubborn):
            server.wait_for(job, "Running")
        calls = {
            "a cancel that waits": lambda: server.background("job", "cancel", "--wait", stubborn),
            "a subscription to output": lambda: server.background("job", "logs", "-f", steady),
            "a watch of a job": lambda: server.background("job", "watch", steady),
            "a stream of metrics": lambda: server.background("top"),
        }
        for what, open_call in calls.items():
            client = open_call()
            until(lambda client=client: client.poll() is not None or has_connection(client.pid, server.port), f"{what} to be open")
            stop_quickly(server, what)
            server.start(worker=False)
            until(lambda: server.sees("w1"), "the worker to come back")
            client.kill()
            client.wait()
        job = server.get(steady)
        check(path_of(job) == ["Pending", "Scheduled", "Running"], f"the steady job went through {path_of(job)}")


def has_connection(pid, port):
    """Whether a process has an established connection to a port of this machine."""
    try:
        inodes = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    except OSError:
        return False
    for family in ("tcp", "tcp6"):   # gRPC speaks to 127.0.0.1 through sockets of the latter
        with open(f"/proc/{pid}/net/{family}", encoding="ascii") as table:
            for line in table.readlines()[1:]:
                fields = line.split()
                if fields[3] == "01" and int(fields[2].split(":")[1], 16) == port and f"socket:[{fields[9]}]" in inodes:
                    return True
    return False
