"""`hodei run --provider kubernetes`: from no worker at all to a job in an image's pod, and nothing left, whatever dies."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from harness import Apart, check, contains, same, until
from kube_api import KubeApi
from kube_cluster import WORKER

GONE_WITHIN = 30.0      # seconds after the job
SWEPT_WITHIN = 120.0    # seconds after the server came back
ROUNDS = int(os.environ.get("HODEI_TEST_KILL_ROUNDS", "3"))   # 20 for the whole proof
OS_RELEASE = 'NAME="an image of the tests"\n'
# All that the image holds: prints a file, says its words.
PROGRAM = r"""
#include <stdio.h>
int main(int argc, char** argv) {
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  for (int c; file && (c = getc(file)) != EOF;) putchar(c);
  for (int i = 1; !file && i < argc; i++) printf("%s%s", argv[i], i + 1 < argc ? " " : "\n");
  return 0;
}
"""


def make_image(folder):
    """A root with one static program under two names; as root it is the pod's own, otherwise the host stands in."""
    for name in ("bin", "etc", "proc", "tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "tmp").chmod(0o1777)
    (folder / "etc/os-release").write_text(OS_RELEASE)
    source = folder / "program.c"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-static", "-O1", "-o", str(folder / "bin/cat"), str(source)], check=True)
    os.link(folder / "bin/cat", folder / "bin/say")
    return folder


def is_healthy(server):
    words = server.cli("provider", "health", "kubernetes").out.lower()
    return "healthy" in words and "unhealthy" not in words


@contextlib.contextmanager
def kubernetes_in_a_server(*flags, capacity=None, **settings):
    """A cluster with an image, and a server without workers that knows the cluster."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-kube-", dir="/tmp"))
    try:
        check(os.geteuid() == 0, "images need root here: run the tests as root")
        folder.chmod(0o755)
        with KubeApi(folder / "api", WORKER, {"small:1": make_image(folder / "image")}, capacity) as api, \
                Apart(**settings) as server:
            server.start(worker=False)
            server.cli("provider", "rm", "kubernetes")
            server.ok("provider", "add", "kubernetes", "--type", "kubernetes", "--option", f"kubeconfig={api.kubeconfig()}", *flags)
            until(lambda: is_healthy(server),
                  lambda: f"the provider to be healthy: {server.cli('provider', 'health', 'kubernetes')!r}")
            yield server, api
        same(api.problems, [], "requests that are not as the official description says")
        same(api.errors, [], "errors of the API server")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(server, *words, **options):
    return server.ok("run", "--provider", "kubernetes", "--image", "small:1", "--", *words, timeout=120, **options)


def nothing_left(api, within, when):
    until(lambda: not api.left(), lambda: f"{when}: nothing to be left; there are {api.left()}", within)


def test_a_job_runs_in_a_pod_with_no_worker_there_before():
    with kubernetes_in_a_server() as (server, api):
        same(server.workers(), [], "workers before")
        same(run(server, "cat", "/etc/os-release").out, OS_RELEASE, "the image's file")
        nothing_left(api, GONE_WITHIN, "after the job")


def test_an_image_that_is_not_there_is_named_in_the_explanation():
    with kubernetes_in_a_server() as (server, api):
        job = server.submit("--provider", "kubernetes", "--image", "not/there:1", "--", "cat", "/etc/os-release")
        until(lambda: "not/there:1" in server.cli("job", "explain", job).out, lambda: repr(server.cli("job", "explain", job)))
        contains(server.ok("job", "explain", job).out, "pull", "the explanation")
        server.cli("job", "cancel", job)
        nothing_left(api, GONE_WITHIN, "after it was cancelled")


def test_a_server_killed_between_create_and_registration_leaves_nothing():
    with kubernetes_in_a_server() as (server, api):
        for number in range(ROUNDS):
            # Round by round the window is hit elsewhere: before the pod has its secret, while its image comes, when it runs.
            if number % 3 == 1:
                api.kubelet.slow_image.add("small:1")
            client = server.background("run", "--provider", "kubernetes", "--image", "small:1", "--", "say", "hello")
            until(api.kubelet.processes.keys if number % 3 == 2 else api.pods, f"round {number}: a pod", 60)
            server.kill("server", signal.SIGKILL)
            client.kill()
            client.wait()
            api.kubelet.slow_image.clear()
            server.start(worker=False)
            for job in server.jobs():
                server.cli("job", "cancel", job["id"])
            nothing_left(api, SWEPT_WITHIN, f"round {number}")
        same(run(server, "say", "hello").out, "hello\n", "a job, after all of it")


def test_fifty_jobs_with_room_for_ten():
    with kubernetes_in_a_server("--max-workers", "10", capacity=10) as (server, api):
        jobs = [server.submit("--provider", "kubernetes", "--image", "small:1", "--", "say", str(n)) for n in range(50)]
        until(lambda: all(server.state(job) == "Succeeded" for job in jobs),
              lambda: f"all jobs to be done: {[server.state(job) for job in jobs]}", 600)
        check(1 <= api.store.most_pods <= 10, f"{api.store.most_pods} pods were there at once, 10 are allowed")
        nothing_left(api, GONE_WITHIN, "after all jobs")


def test_a_cluster_with_less_room_than_allowed_is_waited_for():
    with kubernetes_in_a_server(capacity=2) as (server, api):
        jobs = [server.submit("--provider", "kubernetes", "--image", "small:1", "--", "say", str(n)) for n in range(6)]
        until(lambda: all(server.state(job) == "Succeeded" for job in jobs),
              lambda: f"all jobs to be done: {[server.state(job) for job in jobs]}", 300)
        check(api.kubelet.most_running <= 2, f"{api.kubelet.most_running} pods ran at once, there is room for 2")
        nothing_left(api, GONE_WITHIN, "after all jobs")


def test_a_pod_that_dies_before_it_joins_is_told_and_removed():
    with kubernetes_in_a_server(HODEI_ADVERTISE="127.0.0.1:1") as (server, api):   # it will never join
        api.kubelet.all_oom = True   # how its end is told, if it is killed
        job = server.submit("--provider", "kubernetes", "--image", "small:1", "--", "say", "hello")
        until(lambda: api.kubelet.processes, "a pod that runs", 60)
        next(iter(api.kubelet.processes.values())).kill()
        until(lambda: "OOMKilled" in server.cli("job", "explain", job).out, lambda: repr(server.cli("job", "explain", job)))
        server.cli("job", "cancel", job)
        nothing_left(api, GONE_WITHIN, "after it died")
