"""A cluster as kubectl sees it, a server that makes pods there, and a way to the API server that can be cut."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import urllib.parse

import harness
from harness import Apart, check, same, until
from kube_api import KubeApi

NEEDED = ("KUBECONFIG", "HODEI_TEST_IMAGE", "HODEI_WORKER_IMAGE", "HODEI_TEST_SERVER")
GONE_WITHIN = 60.0       # seconds after the last job
SWEPT_WITHIN = 120.0     # seconds after the server came back
STARTED_WITHIN = 600.0   # an image may have to be pulled
LEASE = 6                # seconds: what a dead pod ran is given up soon
LOST_WITHIN = 60.0


class Way:
    """A TCP forwarder in front of the API server: cut, it is an outage that any cluster can have."""

    def __init__(self, host, port):
        self.target, self.open, self.pairs = (host, port), True, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.forward, args=(client,), daemon=True).start()

    def forward(self, client):
        if not self.open:
            return client.close()
        try:
            server = socket.create_connection(self.target, timeout=10)
        except OSError:
            return client.close()
        self.pairs.append((client, server))
        back = threading.Thread(target=self.copy, args=(server, client), daemon=True)
        back.start()
        self.copy(client, server)
        back.join()
        for one in (client, server):
            one.close()

    def copy(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def cut(self):
        self.open = False
        for pair in self.pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self.pairs.clear()

    def mend(self):
        self.open = True

    def close(self):
        self.cut()
        self.listener.close()


class Cluster:
    def __init__(self, kubeconfig, image, worker_image, server):
        self.kubeconfig, self.image, self.worker_image, self.server = str(kubeconfig), image, worker_image, server
        self.namespace = os.environ.get("HODEI_K8S_NAMESPACE", "hodei-workers")

    def kubectl(self, *words):
        done = subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, "--namespace", self.namespace, *words],
                              capture_output=True, text=True, timeout=120, check=False)
        check(done.returncode == 0, f"kubectl {' '.join(words)}: {done.stderr}")
        return done.stdout

    def pods(self):
        return json.loads(self.kubectl("get", "pods", "-l", "app.kubernetes.io/managed-by=hodei", "-o", "json"))["items"]

    def names(self, *phases):
        """Of the pods in these phases, or of all."""
        return sorted(pod["metadata"]["name"] for pod in self.pods() if not phases or pod["status"]["phase"] in phases)

    def left(self):
        secrets = self.kubectl("get", "secrets", "-l", "app.kubernetes.io/managed-by=hodei", "-o", "name").split()
        return [f"pod/{pod['metadata']['name']}" for pod in self.pods()] + secrets

    @contextlib.contextmanager
    def behind_a_way(self, folder):
        """The same cluster, reached through a Way."""
        config = json.loads(self.kubectl("config", "view", "--raw", "--minify", "--flatten", "-o", "json"))
        entry = config["clusters"][0]["cluster"]
        url = urllib.parse.urlsplit(entry["server"])
        way = Way(url.hostname, url.port or 443)
        entry.setdefault("tls-server-name", url.hostname)
        entry["server"] = f"https://127.0.0.1:{way.port}"
        path = pathlib.Path(folder) / "kubeconfig-behind-a-way"
        path.write_text(json.dumps(config))
        path.chmod(0o600)
        try:
            yield way, path
        finally:
            way.close()


@contextlib.contextmanager
def the_cluster():
    given = [name for name in NEEDED if os.environ.get(name)]
    if given:
        missing = [name for name in NEEDED if name not in given]
        check(not missing, f"{', '.join(given)} are set, {', '.join(missing)} are not; see --help")
        yield Cluster(*(os.environ[name] for name in NEEDED))
        return
    print("no cluster given: the tests' own API server stands in (see --help)", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-kube-", dir="/tmp"))
    try:
        with KubeApi(folder, harness.HODEI.parent / "hodei-worker", {"host:1": ""}) as api:
            yield Cluster(api.kubeconfig(), "host:1", "hodei-worker:latest", f"127.0.0.1:{harness.free_port()}")
        same(api.problems + api.errors, [], "requests that are not as the official description says, and errors")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_healthy(server):
    words = server.cli("provider", "health", "kubernetes").out.lower()
    return "healthy" in words and "unhealthy" not in words


@contextlib.contextmanager
def a_server(cluster, *flags, kubeconfig=None, advertise=None, **settings):
    port = int(cluster.server.rsplit(":", 1)[1])
    host = "127.0.0.1" if cluster.server.startswith("127.") else "0.0.0.0"
    settings = {"HODEI_LEASE": f"{LEASE}s", **settings}
    with Apart(HODEI_LISTEN=f"{host}:{port}", HODEI_ADVERTISE=advertise or cluster.server, **settings) as server:
        server.port = port
        server.start(worker=False)
        server.ok("provider", "add", "kubernetes", "--type", "kubernetes", "--option", f"kubeconfig={kubeconfig or cluster.kubeconfig}",
                  "--option", f"namespace={cluster.namespace}", "--option", f"worker_image={cluster.worker_image}", *flags)
        until(lambda: is_healthy(server),
              lambda: f"the provider to be healthy: {server.cli('provider', 'health', 'kubernetes')!r}")
        yield server


def words_for(cluster, *flags):
    """The flags of a job that runs in a pod."""
    return ["--provider", "kubernetes", "--image", cluster.image, *flags, "--"]


def nothing_left(cluster, within=GONE_WITHIN, when="at the end"):
    until(lambda: not cluster.left(), lambda: f"{when}: nothing to be left: {cluster.left()}", within)


def reason_of(server, job):
    return server.get(job).get("reason", "")


def first_line(server, job):
    """What `job explain` says first about a job that waits."""
    lines = server.cli("job", "explain", job).out.splitlines()
    return lines[1] if len(lines) > 1 else ""
