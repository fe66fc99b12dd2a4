#!/usr/bin/env python3
"""One measurement of Celery: as many tasks in flight as asked for; the next are sent when some have ended.

  drive.py noop|exec IN_FLIGHT SECONDS MOST
  drive.py latency 0 SECONDS MOST              idle, from apply_async to the task

PEER_PORT is the port of Redis. Prints a line of JSON.
"""

import json
import sys
import time

import tasks

PATIENCE = 30   # seconds for what is under way to end
IDLE_GAP = 0.005


def throughput(task, in_flight, seconds, most):
    tasks.counter.set(tasks.DONE, 0)
    begun, ended, began = 0, 0, time.monotonic()
    while True:
        elapsed = time.monotonic() - began
        while begun - ended < in_flight and begun < most and elapsed < seconds:
            task.apply_async()
            begun += 1
        ended = int(tasks.counter.get(tasks.DONE))
        if ended >= begun:
            if elapsed >= seconds or begun >= most:
                break
        elif begun - ended >= in_flight or elapsed >= seconds:
            time.sleep(0.001)
        if elapsed > seconds + PATIENCE:
            sys.exit("tasks do not end")
    took = time.monotonic() - began
    return {"per_s": ended / took, "count": ended, "failed": 0, "seconds": took}


def latency(seconds, most):
    found, began = [], time.monotonic()
    while len(found) < most and time.monotonic() - began < seconds:
        time.sleep(IDLE_GAP)
        found.append(tasks.receive.apply_async((time.monotonic_ns(),)).get(timeout=PATIENCE) / 1e6)
    found.sort()

    def at(share):
        return found[int(share * (len(found) - 1))]
    return {"count": len(found), "p50_ms": at(0.5), "p99_ms": at(0.99), "curve_ms": [at(n / 100) for n in range(101)]}


def main():
    what, in_flight, seconds, most = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    tasks.receive.apply_async((0,)).get(timeout=PATIENCE)   # connections are made before the clock runs
    if what == "latency":
        facts = latency(seconds, most)
    else:
        facts = throughput({"noop": tasks.noop, "exec": tasks.exec_true}[what], in_flight, seconds, most)
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
