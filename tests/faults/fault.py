"""What every fault test shares: where things are, its arguments and seed, its verdict, and words about processes."""

import argparse
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
sys.dont_write_bytecode = True
from harness import HODEI, ROOT, Failure, Process, check, start_time  # noqa: E402

PROGRAMS = HODEI.parent / "tests" / "faults"
LEDGER_JOB = PROGRAMS / "hodei-ledger-job"


class Skipped(Exception):
    """The machine cannot have this fault, and why."""


def arguments_of(description):
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def main(parser, test):
    """Runs `test(arguments, random)` with the arguments of a script; answers with its exit code."""
    parser.add_argument("--seed", type=int, default=None, help="of all that is random; drawn and printed when not given")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 32)
    name = pathlib.Path(sys.argv[0]).name
    print(f"{name}: {', '.join(f'{k} {v}' for k, v in vars(arguments).items())}", flush=True)
    if not HODEI.exists() or not LEDGER_JOB.exists():
        sys.exit(f"{HODEI} or {LEDGER_JOB} is not there; build them first: tools/dev build release")
    began = time.monotonic()
    try:
        test(arguments, random.Random(arguments.seed))
    except Skipped as why:
        print(f"skipped {name}: {why}")
        return 0
    except Failure as failure:
        again = " ".join(f"--{k.replace('_', '-')} {v}" for k, v in vars(arguments).items())
        print(f"FAILED {name}: {failure}\n  again: {name} {again}")
        if getattr(failure, "server_log", ""):
            print("  the server's log ends with:\n  " + failure.server_log.replace("\n", "\n  "))
        return 1
    print(f"ok     {name} ({time.monotonic() - began:.1f} s)")
    return 0


def say(text):
    print(f"  {text}", flush=True)


# Processes.

def processes_with(word):
    """Everything alive that has this word among its arguments."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(word).encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(Process(folder.name))
        except OSError:
            continue   # it has ended meanwhile
    return [process for process in found if process.alive()]


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return 0


def tree_of(process):
    """A process and all its descendants, parents first."""
    parents = {int(folder.name): parent_of(folder.name) for folder in pathlib.Path("/proc").glob("[0-9]*")}
    tree = [process.pid]
    for pid in tree:
        tree += [child for child, parent in parents.items() if parent == pid]
    return [Process(pid) for pid in tree if start_time(pid) is not None]


def peak_memory(process):
    """The most memory that a process ever had resident, in MB."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise Failure(f"{process} does not tell its memory")


def check_memory(caps):
    """I7. `caps`: name → (process, most MB)."""
    peaks = {name: peak_memory(process) for name, (process, _) in caps.items()}
    say("memory at its peak: " + ", ".join(f"{name} {peak:.0f} MB" for name, peak in peaks.items()))
    for name, (_, most) in caps.items():
        check(peaks[name] < most, f"I7: the {name} had {peaks[name]:.0f} MB, its cap is {most} MB")


def boot_time_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
