"""`scripts/quickstart --stop`: what it says while jobs run, and how they can be stopped at once. Nothing is built: the tree
that it works in holds the scripts and a link to the binary."""

import pathlib
import shutil
import signal
import subprocess

from harness import HODEI, Dev, check, contains, same, start_time, until

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class Started(Dev):
    """A server that the script takes for its own."""

    def script(self, *arguments):
        tree = self.folder / "tree"
        if not tree.exists():
            shutil.copytree(SCRIPTS, tree / "scripts")
            (tree / "build/release").mkdir(parents=True)
            (tree / "build/release/hodei").symlink_to(HODEI)
            (tree / ".hodei").mkdir()
            status = self.status()
            marks = [(role, int(status[f"{role}_pid"])) for role in ("server", "supervisor", "agent")]
            (tree / ".hodei/quickstart.pids").write_text("".join(f"{role} {pid} {start_time(pid)}\n" for role, pid in marks))
            (tree / ".hodei/quickstart.address").write_text(self.address + "\n")
        said = open(self.folder / "said", "w")
        stopper = subprocess.Popen([tree / "scripts/quickstart", *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   env=self.environment(), start_new_session=True,
                                   # A shell cannot trap what was ignored when it started, as in the background of another.
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.clients.append(stopper)
        return stopper

    def said(self):
        return (self.folder / "said").read_text()


def test_a_stop_says_at_once_what_it_waits_for_and_when_it_is_done():
    with Started(HODEI_STOP_GRACE="10m").start() as dev:
        go = dev.folder / "go"
        job = dev.submit("--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done")
        dev.wait_for(job, "Running")
        stopper = dev.script("--stop")
        until(lambda: "to stop at once" in dev.said(), lambda: "the words of the script: " + dev.said())
        contains(dev.said(), "waiting for 1 running job to finish, for up to 10m", "what it waits for")
        check(stopper.poll() is None and dev.process.poll() is None, "the job may go on")
        go.touch()
        same(stopper.wait(timeout=30), 0, "exit code")
        contains(dev.said(), "stopped; the data is kept in", "the last word")
        dev.process.wait(timeout=10)


def test_ctrl_c_while_it_waits_stops_the_jobs_at_once():
    with Started(HODEI_STOP_GRACE="10m").start() as dev:
        job = dev.submit("--", "sleep", "600")
        dev.wait_for(job, "Running")
        stopper = dev.script("--stop")
        until(lambda: "to stop at once" in dev.said(), lambda: "the words of the script: " + dev.said())
        stopper.send_signal(signal.SIGINT)
        same(stopper.wait(timeout=30), 0, "exit code")
        contains(dev.said(), "stopping the running jobs now", "what Ctrl-C does")
        contains(dev.said(), "stopped; the data is kept in", "the last word")
        dev.process.wait(timeout=10)
        dev.start()
        check(dev.state(job) in ("Pending", "Scheduled", "Running"), "the job runs again at the next start")


def test_a_stop_without_running_jobs_says_nothing_of_jobs():
    with Started().start() as dev:
        dev.ok("run", "--", "true")
        stopper = dev.script("--stop")
        same(stopper.wait(timeout=60), 0, "exit code")
        check("running job" not in dev.said(), "nothing to wait for: " + dev.said())
        contains(dev.said(), "stopped; the data is kept in", "the last word")
        dev.process.wait(timeout=10)
