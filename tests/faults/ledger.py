#!/usr/bin/env python3
"""The checker of the fault tests: compares what ran (the ledger), what was promised (the acknowledged ids) and what the
system says (its jobs), and names every broken invariant.

  I1  every acknowledged job reaches exactly one terminal state
  I2  the recorded result belongs to the newest execution
  I3  at most one start per execution
  I4  executions of one job never overlap in time

usage: ledger.py --ledger FILE --acked FILE --jobs FILE [--once]     --jobs: one job per line, as JSON
       ledger.py --self-test
"""

import argparse
import collections
import json
import sys

TERMINAL = {"Succeeded", "Failed", "Cancelled", "Timeout"}
RETRIED = {"Failed", "Timeout"}   # may stand in the middle of a history, right before Pending

# A tree that was frozen as a whole, jobs and supervisor, runs on for a moment when it thaws: no lease can prevent that.
THAW_US = 1_000_000

Line = collections.namedtuple("Line", "job execution epoch what time")
Acked = collections.namedtuple("Acked", "index short id")


def parse_ledger(text):
    """Lines of the ledger. The last may be torn only by a crash of the whole machine, so a bad line is an error."""
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) != 5 or words[3] not in ("start", "end", "overlap") or not words[4].isdigit():
            raise SystemExit(f"ledger line {number} is not understood: {line!r}")
        out.append(Line(*words[:4], int(words[4])))
    return out


def parse_acked(text):
    return [Acked(*line.split()) for line in text.splitlines()]


def check(ledger, acked, jobs, once=False, thawed=None):
    """All violations, as text. `once`: nothing may have been lost on the way: every job succeeded with one start.
    `thawed`: of jobs that were frozen together with their worker, when they went on; such a copy may have run beside its
    successor for a moment."""
    wrong = []
    by_id = {job["id"]: job for job in jobs}
    short_of = {job["id"]: job["short_id"] for job in jobs}
    lines = collections.defaultdict(list)
    for line in ledger:
        lines[short_of.get(line.job, line.job)].append(line)

    if len({a.id for a in acked}) != len(acked):
        wrong.append("I1: one job was acknowledged for two submissions")
    for promise in acked:
        job = by_id.get(promise.id)
        if job is None:
            wrong.append(f"I1: {promise.short} was acknowledged and is not there")
            continue
        own = lines.pop(promise.short, [])
        wrong += [f"{w} ({promise.short})" for w in check_end(job)]
        wrong += [f"{w} ({promise.short})" for w in check_result(job, own)]
        wrong += [f"{w} ({promise.short})" for w in check_starts(own, (thawed or {}).get(promise.short))]
        if once:
            wrong += [f"{w} ({promise.short})" for w in check_once(job, own)]
    wrong += [f"I1: {job} ran and nobody was told of it" for job in lines]
    return wrong


def check_end(job):
    history = [step["to"] for step in job.get("history", [])]
    if job["state"] not in TERMINAL:
        yield f"I1: is {job['state']} and not at an end: {job.get('reason')}"
    if not history or history[-1] != job["state"]:
        yield f"I1: is {job['state']}, and its history ends otherwise: {history}"
    for here, after in zip(history, history[1:]):
        if here in TERMINAL and (here not in RETRIED or after != "Pending"):
            yield f"I1: has left the terminal state {here} for {after}"


def execution_number(execution):
    return int(execution.rsplit(".", 1)[1])


def check_result(job, lines):
    executions = job.get("executions", [])
    if job["state"] in TERMINAL - {"Cancelled"} and executions:
        newest = max(executions, key=lambda e: int(e["number"]))
        if newest["state"] != job["state"]:
            yield f"I2: is {job['state']} and its newest execution {newest['id']} is {newest['state']}"
        later = [line for line in lines if execution_number(line.execution) > int(newest["number"])]
        if later:
            yield f"I2: {later[0].execution} ran and is newer than the recorded {newest['id']}"
        ended = {line.execution for line in lines if line.what == "end"}
        if job["state"] == "Succeeded" and not any(execution_number(e) == int(newest["number"]) for e in ended):
            yield f"I2: Succeeded with {newest['id']}, which never came to its end"


def check_starts(lines, thawed=None):
    starts = collections.Counter(line.execution for line in lines if line.what == "start")
    for execution, count in starts.items():
        if count > 1:
            yield f"I3: {execution} was started {count} times"
    for line in lines:
        met_a_frozen_one = thawed is not None and line.time < thawed
        if line.what == "overlap" and not met_a_frozen_one:
            yield f"I4: {line.execution} found another copy alive"
    # By the times of the ledger: one execution ends before the next starts.
    spans = {}
    for line in lines:
        low, high = spans.get(line.execution, (line.time, line.time))
        spans[line.execution] = (min(low, line.time), max(high, line.time))
    ordered = sorted(spans.items(), key=lambda item: item[1])
    for (one, (_, end)), (two, (start, _)) in zip(ordered, ordered[1:]):
        just_thawed = thawed is not None and start < thawed < end <= thawed + THAW_US
        if start < end and not just_thawed:
            yield f"I4: {two} started {end - start} µs before {one} ended"


def check_once(job, lines):
    starts = sum(line.what == "start" for line in lines)
    if job["state"] != "Succeeded":
        yield f"once: is {job['state']}: {job.get('reason')}"
    if starts != 1:
        yield f"once: has {starts} starts"
    if int(job["attempts"]) != 1:
        yield f"once: counts {job['attempts']} attempts"


# The checker must find what it is there to find.

def a_job(state="Succeeded", history=("Pending", "Scheduled", "Running", "Succeeded"), executions=("Succeeded",)):
    return {
        "id": "uuid-1", "short_id": "j1", "state": state, "attempts": len(executions),
        "history": [{"to": to} for to in history],
        "executions": [{"id": f"j1.{n}", "number": n, "state": s} for n, s in enumerate(executions, 1)],
    }


CLEAN = "uuid-1 j1.1 1 start 100\nuuid-1 j1.1 1 end 200\n"
TWICE = ("Pending", "Scheduled", "Running", "Failed", "Pending", "Scheduled", "Running", "Succeeded")
RETRY = a_job(history=TWICE, executions=("Failed", "Succeeded"))
RETRY_LEDGER = CLEAN + "uuid-1 j1.2 1 start 300\nuuid-1 j1.2 1 end 400\n"

# (what, ledger, jobs, once, a word of the expected violation or None[, thawed])
FROZEN = ("uuid-1 j1.1 1 start 100\nuuid-1 j1.2 1 overlap 300\nuuid-1 j1.2 1 start 301\n"
          "uuid-1 j1.1 1 end {end}\nuuid-1 j1.2 1 end 9000000\n")

CASES = [
    ("a clean life", CLEAN, [a_job()], True, None),
    ("a clean retry", RETRY_LEDGER, [RETRY], False, None),
    ("a lost execution without an end", "uuid-1 j1.1 1 start 100\nuuid-1 j1.2 1 start 300\nuuid-1 j1.2 1 end 400\n",
     [a_job(history=("Pending", "Scheduled", "Running", "Pending", "Scheduled", "Running", "Succeeded"),
            executions=("Pending", "Succeeded"))], False, None),
    ("a lost job", CLEAN, [], False, "is not there"),
    ("a job without an end", CLEAN, [a_job("Running", ("Pending", "Scheduled", "Running"), ("Running",))], False, "I1: is Running"),
    ("two ends", CLEAN, [a_job(history=("Pending", "Scheduled", "Running", "Succeeded", "Succeeded"))], False, "has left"),
    ("an end taken back", RETRY_LEDGER,
     [a_job(history=("Pending", "Scheduled", "Running", "Succeeded", "Pending", "Scheduled", "Running", "Succeeded"),
            executions=("Succeeded", "Succeeded"))], False, "has left"),
    ("a history that ends elsewhere", CLEAN, [a_job(history=("Pending", "Scheduled", "Running"))], False, "ends otherwise"),
    ("the result of an older execution", RETRY_LEDGER, [a_job(executions=("Succeeded",))], False, "newer than the recorded"),
    ("a success that never ended", "uuid-1 j1.1 1 start 100\n", [a_job()], False, "never came to its end"),
    ("a result that is not the newest's", RETRY_LEDGER, [a_job(history=TWICE, executions=("Succeeded", "Failed"))], False, "I2"),
    ("a second start", "uuid-1 j1.1 1 start 90\n" + CLEAN, [a_job()], False, "I3"),
    ("two copies by their times", CLEAN + "uuid-1 j1.2 1 start 150\nuuid-1 j1.2 1 end 400\n", [RETRY], False, "I4"),
    ("two copies by their lock", CLEAN + "uuid-1 j1.2 1 overlap 300\nuuid-1 j1.2 1 start 301\nuuid-1 j1.2 1 end 400\n", [RETRY],
     False, "I4"),
    ("a frozen copy that ends when it thaws", FROZEN.format(end=1_500_000), [RETRY], False, None, {"j1": 1_000_000}),
    ("a frozen copy that goes on", FROZEN.format(end=2_500_000), [RETRY], False, "I4", {"j1": 1_000_000}),
    ("two copies after a thaw", FROZEN.format(end=900_000), [RETRY], False, "I4", {"j1": 200}),
    ("another job than the one that was frozen", FROZEN.format(end=1_500_000), [RETRY], False, "I4", {"j2": 1_000_000}),
    ("a job that nobody was told of", CLEAN + "uuid-2 j2.1 1 start 100\n", [a_job()], False, "nobody was told"),
    ("a second attempt where there must be none", RETRY_LEDGER, [RETRY], True, "has 2 starts"),
]


def self_test():
    acked = parse_acked("0 j1 uuid-1\n")
    wrong = []
    for what, ledger, jobs, once, expected, *thawed in CASES:
        found = check(parse_ledger(ledger), acked, jobs, once, *thawed)
        if (expected is None and found) or (expected is not None and not any(expected in line for line in found)):
            wrong.append(f"{what}: expected {expected or 'nothing'}, found {found or 'nothing'}")
    return wrong


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--ledger")
    parser.add_argument("--acked")
    parser.add_argument("--jobs")
    parser.add_argument("--once", action="store_true", help="every job succeeded, with exactly one start")
    arguments = parser.parse_args()
    if arguments.self_test:
        wrong = self_test()
        print("\n".join(wrong) or f"{len(CASES)} planted ledgers judged rightly")
        return 1 if wrong else 0
    jobs = [json.loads(line) for line in read(arguments.jobs).splitlines()]
    wrong = check(parse_ledger(read(arguments.ledger)), parse_acked(read(arguments.acked)), jobs, arguments.once)
    print("\n".join(wrong) or f"{len(jobs)} jobs, no invariant broken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
