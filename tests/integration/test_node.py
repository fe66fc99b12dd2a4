"""A client in another language, made from the protos alone: Node.js with @grpc/grpc-js."""

import pathlib
import shutil
import subprocess

from harness import ROOT, Dev, check

CLIENT = pathlib.Path(__file__).resolve().parent / "node"


def install():
    """The packages of package-lock.json, once."""
    check(shutil.which("npm"), "npm is not installed; scripts/test installs it")
    mark, lock = CLIENT / "node_modules" / ".installed", (CLIENT / "package-lock.json").read_text()
    if mark.exists() and mark.read_text() == lock:
        return
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=CLIENT, capture_output=True,
                          text=True, timeout=300, check=False)
    check(done.returncode == 0, lambda: f"npm ci failed: {done.stdout}{done.stderr}")
    mark.write_text(lock)


def run_client(case):
    install()
    with Dev().start() as dev:
        done = subprocess.run(["node", "client.js", case, f"127.0.0.1:{dev.port}", str(ROOT / "proto")], cwd=CLIENT,
                              capture_output=True, text=True, timeout=120, check=False)
        check(done.returncode == 0, lambda: f"node client.js {case} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def test_submits_and_follows_logs():
    run_client("logs")


def test_cancels():
    run_client("cancel")


def test_finds_the_services_by_reflection():
    run_client("reflection")


def test_a_client_made_from_reflection_alone_runs_a_job():
    run_client("reflected")


def test_health():
    run_client("health")


def test_a_stream_of_submissions():
    run_client("stream")


def test_errors_have_the_right_codes():
    run_client("errors")
