"""The tasks that Celery's worker runs. The port of Redis comes from the environment."""

import os
import subprocess
import time

import celery
import redis

REDIS = f"redis://127.0.0.1:{os.environ['PEER_PORT']}/0"
DONE = "bench-done"
app = celery.Celery("tasks", broker=REDIS, backend=REDIS)
app.conf.update(worker_prefetch_multiplier=64, result_expires=600)
counter = redis.Redis.from_url(REDIS)


# A counter, not results: one word to Redis per task, which is the cheapest way to tell the client of an end.
@app.task(ignore_result=True)
def noop():
    counter.incr(DONE)


@app.task(ignore_result=True)
def exec_true():
    subprocess.run(["/bin/true"], check=True)
    counter.incr(DONE)


@app.task
def receive(asked):
    return time.monotonic_ns() - asked
