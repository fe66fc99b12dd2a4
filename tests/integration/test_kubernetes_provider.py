"""The kubernetes provider against an API server that runs pods for real: what it asks for, bears and leaves behind."""

import contextlib
import json
import os
import pathlib
import queue
import shutil
import subprocess
import tempfile
import threading

import harness
from harness import check, contains, same, until
from kube_api import TOKEN, KubeApi

BUILD = harness.HODEI.parent
WORKER = pathlib.Path(os.environ.get("HODEI_WORKER_BINARY", BUILD / "hodei-worker"))
CHECK = BUILD / "tests/providers/provider-check"
CALL = BUILD / "tests/providers/provider-call"
NOWHERE = "127.0.0.1:1"       # workers that need not register
SECRET = "t0ken-of-one-time"
IMAGE = "host:1"              # the host itself
PATH = {"PATH": os.environ["PATH"]}


class Kubernetes:
    """The provider, one call after the other, on a cluster of the test's own."""

    def __init__(self, api, **words):
        self.api = api
        self.words = {"installation": "ours", "server": NOWHERE, "token": SECRET, "image": IMAGE,
                      "option.kubeconfig": api.kubeconfig()} | words

    def arguments(self, verb, words):
        return [str(CALL), "kubernetes", verb, *(f"{k}={v}" for k, v in (self.words | words).items() if v is not None)]

    def try_call(self, verb, env=None, **words):
        return subprocess.run(self.arguments(verb, words), capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, env=PATH | (env or {}))

    def call(self, verb, env=None, **words):
        done = self.try_call(verb, env, **words)
        check(done.returncode == 0, f"{verb} {words}: {done.stderr}")
        return dict(line.partition("=")[::2] for line in done.stdout.splitlines())

    def refused(self, verb, *expected, env=None, **words):
        """The words of an error; each of `expected` must be among them."""
        done = self.try_call(verb, env, **words)
        same(done.returncode, 1, f"exit code of {verb} {words}: {done.stdout}{done.stderr}")
        for word in expected:
            contains(done.stderr, word, f"{verb} {words}")
        check(SECRET not in done.stderr and TOKEN not in done.stderr, f"a token is in an error: {done.stderr}")
        return done.stderr

    def status_until(self, worker, condition, what):
        seen = {}
        def there():
            seen.update(self.call("status", worker_id=worker))
            return condition(seen)
        until(there, lambda: f"{worker} {what}; its status is {seen}")
        return seen

    def runs(self, worker):
        return self.status_until(worker, lambda s: s["phase"] == "Running", "to run")


class Watch:
    """`provider-call watch`: the workers that changed, as they come."""

    def __init__(self, cluster):
        self.process = subprocess.Popen(cluster.arguments("watch", {}), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=PATH)
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout], daemon=True).start()

    def __enter__(self):
        return self

    def tells(self, worker):
        while True:
            try:
                line = self.lines.get(timeout=harness.PATIENCE)
            except queue.Empty:
                raise harness.Failure(f"waited in vain for a change of {worker}") from None
            if line.strip() == f"changed={worker}":
                return

    def forget(self):
        with contextlib.suppress(queue.Empty):
            while True:
                self.lines.get_nowait()

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=harness.PATIENCE)


@contextlib.contextmanager
def a_cluster(capacity=None, images=None, **words):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-kube-", dir="/tmp"))
    try:
        with KubeApi(folder, WORKER, images or {IMAGE: ""}, capacity) as api:
            yield api, Kubernetes(api, **words)
        same(api.problems, [], "requests that are not as the official description says")
        same(api.errors, [], "errors of the API server")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def lists(api):
    return sum(1 for method, path, query in api.asked if method == "GET" and path.endswith("/pods") and "watch" not in query)


def test_it_keeps_the_promises_of_every_provider():
    with a_cluster(images={IMAGE: "", "debian:12-slim": ""}) as (api, _):
        done = subprocess.run(
            [str(CHECK), "--type", "kubernetes", "--option", f"kubeconfig={api.kubeconfig()}", "--room", "3", "--image", IMAGE,
             "--worker", str(WORKER)], capture_output=True, text=True, timeout=900, check=False, env=PATH)
        same(done.returncode, 0, f"the conformance suite: {done.stdout}{done.stderr}")
        same(api.left(), [], "what is left of it")
        check(api.store.most_pods <= 3, f"{api.store.most_pods} pods were there at once, 3 are allowed")


def test_the_token_is_only_in_the_secret_and_goes_with_the_pod():
    with a_cluster() as (api, cluster):
        cluster.call("create", worker_id="w1")
        cluster.runs("w1")
        check(SECRET not in json.dumps(list(api.store.pods.values())), "the token is in the pod")
        same([name for _, name in api.store.secrets], ["hodei-w1-token"], "the secrets")
        process = next(iter(api.kubelet.processes.values()))
        environment = pathlib.Path(f"/proc/{process.first_pid()}/environ").read_bytes()
        check(SECRET.encode() in environment, "the worker does not have its token")
        cluster.call("destroy", worker_id="w1")
        same(api.left(), [], "what is left of it")


def test_the_worker_has_no_rights_of_root():
    with a_cluster() as (api, cluster):
        cluster.call("create", worker_id="w1")
        cluster.runs("w1")
        status = pathlib.Path(f"/proc/{next(iter(api.kubelet.processes.values())).first_pid()}/status").read_text()
        words = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if os.geteuid() == 0:
            same(words["Uid"].split()[0], "65532", "its user")
            same(int(words["CapEff"], 16), 0, "its capabilities")
        cluster.call("destroy", worker_id="w1")


def test_an_image_is_the_root_of_the_pod():
    check(os.geteuid() == 0, "images need root here: run the tests as root")
    image = pathlib.Path(tempfile.mkdtemp(prefix="hodei-image-", dir="/tmp"))
    try:
        image.chmod(0o755)
        for folder in ("proc", "tmp", "etc"):
            (image / folder).mkdir()
        with a_cluster(images={"small:1": image}) as (api, cluster):
            cluster.call("create", worker_id="w1", image="small:1")
            cluster.runs("w1")
            root = pathlib.Path(f"/proc/{next(iter(api.kubelet.processes.values())).first_pid()}/root")
            check((root / "hodei/hodei-worker").exists(), "the worker is not in the image's root")
            same(sorted(p.name for p in (root / "etc").iterdir()), [], "files of the image's /etc")
            cluster.call("destroy", worker_id="w1")
    finally:
        shutil.rmtree(image, ignore_errors=True)


def test_a_client_certificate_is_enough():
    with a_cluster() as (api, cluster):
        user = {"client-certificate-data": api.encoded("client.pem"), "client-key-data": api.encoded("client.key")}
        same(cluster.call("health", **{"option.kubeconfig": api.kubeconfig(user)})["state"], "Healthy", "by data")
        user = {"client-certificate": "tls/client.pem", "client-key": "tls/client.key"}
        same(cluster.call("health", **{"option.kubeconfig": api.kubeconfig(user)})["state"], "Healthy", "by files beside it")
        health = cluster.call("health", **{"option.kubeconfig": api.kubeconfig({})})
        same(health["state"], "Unhealthy", "without any credential")
        contains(health["reason"], "does not know who we are", "without any credential")


def test_the_servers_certificate_must_be_its_own():
    with a_cluster() as (api, cluster):
        named = {"server": api.url, "tls-server-name": "kube.test"}
        same(cluster.call("health", **{"option.kubeconfig": api.kubeconfig(cluster=named)})["state"], "Healthy", "by its name")
        for wrong, word in (({"tls-server-name": "other.test"}, "not trusted"),
                            ({"certificate-authority-data": api.encoded("client.pem")}, "not trusted"),
                            ({"insecure-skip-tls-verify": True}, "is refused")):
            health = cluster.call("health", **{"option.kubeconfig": api.kubeconfig(cluster=wrong)})
            same(health["state"], "Unhealthy", f"with {wrong}")
            contains(health["reason"], word, f"with {wrong}")


def test_the_service_account_of_a_pod_is_read_anew():
    with a_cluster(**{"option.kubeconfig": None}) as (api, cluster):
        account = api.folder / "account"
        account.mkdir()
        shutil.copy(api.folder / "tls/ca.pem", account / "ca.crt")
        host, port = api.url.removeprefix("https://").split(":")
        pod = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        words = {"option.service_account_folder": account, "option.kubeconfig": None}
        cluster.refused("list", "token", env=pod, **words)
        (account / "token").write_text(TOKEN + "\n")
        cluster.call("list", env=pod, **words)
        # A token that is replaced while the provider runs.
        with a_watch_in_a_pod(cluster, pod, words) as watch:
            cluster.call("create", env=pod, worker_id="w1", **words)
            watch.tells("w1")
            api.tokens.add("the-next-one")
            (account / "token").write_text("the-next-one")
            api.tokens.remove(TOKEN)
            api.break_watches()
            watch.forget()
            cluster.call("destroy", env=pod, worker_id="w1", **words)
            watch.tells("w1")


@contextlib.contextmanager
def a_watch_in_a_pod(cluster, environment, words):
    PATH.update(environment)
    kept = cluster.words
    cluster.words = kept | words
    try:
        with Watch(cluster) as watch:
            yield watch
    finally:
        cluster.words = kept
        for name in environment:
            del PATH[name]


def plugin(api, *credentials):
    """A program that prints one credential after the other, the last one for ever, and counts its runs."""
    for index, credential in enumerate(credentials):
        document = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": credential}
        (api.folder / f"credential-{index}").write_text(json.dumps(document))
    program = api.folder / "plugin"
    program.write_text(f'#!/bin/sh\ncd {api.folder}\nn=$(wc -l < runs)\necho "$KUBERNETES_EXEC_INFO" >> runs\n'
                       f'[ $n -lt {len(credentials)} ] || n={len(credentials) - 1}\ncat credential-$n\n')
    program.chmod(0o755)
    (api.folder / "runs").write_text("")
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "IfAvailable",
                     "provideClusterInfo": True}}
    return {"option.kubeconfig": api.kubeconfig(user)}


def runs_of(api):
    return [json.loads(line) for line in (api.folder / "runs").read_text().splitlines()]


def test_an_exec_plugin_gives_the_credential_until_it_runs_out():
    with a_cluster() as (api, cluster):
        words = plugin(api, {"token": TOKEN, "expirationTimestamp": "2100-01-01T00:00:00Z"})
        same(cluster.call("health", **words)["state"], "Healthy", "with a plugin")
        same(len(runs_of(api)), 1, "runs of the plugin for many requests")
        same(runs_of(api)[0]["spec"]["cluster"]["server"], api.url, "what the plugin is told")
        words = plugin(api, {"token": TOKEN, "expirationTimestamp": "2001-01-01T00:00:00Z"})
        same(cluster.call("health", **words)["state"], "Healthy", "with a plugin whose tokens have run out")
        check(len(runs_of(api)) > 1, "a credential that ran out was used again")
        words = plugin(api, {"token": "not-any-more"}, {"token": TOKEN})
        same(cluster.call("health", **words)["state"], "Healthy", "after 401 the plugin is asked again")
        same(len(runs_of(api)), 2, "runs of the plugin")
        certificate = {"clientCertificateData": (api.folder / "tls/client.pem").read_text(),
                       "clientKeyData": (api.folder / "tls/client.key").read_text()}
        same(cluster.call("health", **plugin(api, certificate))["state"], "Healthy", "with a certificate of a plugin")


def test_a_plugin_that_fails_says_why():
    with a_cluster() as (api, cluster):
        words = plugin(api, {"token": TOKEN})
        (api.folder / "plugin").write_text("#!/bin/sh\necho please log in >&2\nexit 1\n")
        cluster.refused("list", "please log in", **words)


def test_throttling_and_failures_of_the_server_are_borne():
    with a_cluster() as (api, cluster):
        api.throttle(2, seconds=1)
        cluster.call("create", worker_id="w1")
        api.fail(3)
        cluster.runs("w1")
        api.throttle(2, seconds=0)
        api.fail(1, 500)
        cluster.call("destroy", worker_id="w1")
        same(api.left(), [], "what is left of it")


def test_throttling_without_an_end_is_an_error_that_may_pass():
    with a_cluster() as (api, cluster):
        api.throttle(1000, seconds=0)
        cluster.refused("list", "UNAVAILABLE", "throttles")
        check(len(api.asked) < 20, f"{len(api.asked)} requests to a server that is too busy")


def test_a_quota_is_no_room():
    with a_cluster() as (api, cluster):
        api.store.quota = 1
        cluster.call("create", worker_id="w1")
        cluster.refused("create", "RESOURCE_EXHAUSTED", "quota", worker_id="w2")
        same(api.pods(), ["hodei-w1"], "the pods")
        cluster.call("destroy", worker_id="w1")


def test_errors_of_images_and_nodes_come_as_reasons():
    with a_cluster(capacity=1) as (api, cluster):
        cluster.call("create", worker_id="w1", image="no/such:image")
        seen = cluster.status_until("w1", lambda s: s["hopeless"] == "true", "to be hopeless")
        contains(seen["reason"], "no/such:image", "reason of a missing image")
        same(seen["phase"], "Starting", "phase of a missing image")
        cluster.call("create", worker_id="w2")
        seen = cluster.status_until("w2", lambda s: s["reason"], "to say why it waits")
        contains(seen["reason"], "no node takes it", "reason of no room")
        same(seen["hopeless"], "false", "hopelessness of no room")
        cluster.call("destroy", worker_id="w1")
        cluster.runs("w2")
        cluster.call("destroy", worker_id="w2")
        cluster.call("create", worker_id="w3", image="Not An Image")
        seen = cluster.status_until("w3", lambda s: s["hopeless"] == "true", "to be hopeless")
        contains(seen["reason"], "InvalidImageName", "reason of a name that is none")
        cluster.call("destroy", worker_id="w3")
        same(api.left(), [], "what is left of them")


def test_a_worker_that_used_too_much_memory_says_so():
    with a_cluster() as (api, cluster):
        cluster.call("create", worker_id="w1")
        cluster.runs("w1")
        api.kubelet.oom.add("hodei-w1")
        next(iter(api.kubelet.processes.values())).kill()
        seen = cluster.status_until("w1", lambda s: s["phase"] == "Ended", "to have ended")
        contains(seen["reason"], "OOMKilled", "reason")
        cluster.call("destroy", worker_id="w1")


def test_a_missing_namespace_is_named():
    with a_cluster() as (_, cluster):
        cluster.refused("create", "FAILED_PRECONDITION", "nowhere", worker_id="w1", **{"option.namespace": "nowhere"})


def test_health_is_readiness_and_rights():
    with a_cluster() as (api, cluster):
        same(cluster.call("health")["state"], "Healthy", "a good cluster")
        api.denied = {("get", "pods/log")}
        same(cluster.call("health")["state"], "Degraded", "without logs")
        api.denied = {("create", "pods")}
        health = cluster.call("health")
        same(health["state"], "Unhealthy", "without the right to create pods")
        contains(health["reason"], "no right to create pods", "its words")
        cluster.refused("create", "PERMISSION_DENIED", worker_id="w1")
        api.denied, api.ready = set(), False
        health = cluster.call("health")
        same(health["state"], "Unhealthy", "a server that is not ready")
        contains(health["reason"], "not ready", "its words")


def test_a_secret_that_is_refused_leaves_no_pod():
    with a_cluster() as (api, cluster):
        api.denied = {("create", "secrets")}
        cluster.refused("create", "secrets", worker_id="w1")
        until(lambda: not api.left(), lambda: f"nothing to be left: {api.left()}")


def test_a_watch_goes_on_where_it_broke_off():
    with a_cluster() as (api, cluster), Watch(cluster) as watch:
        until(lambda: api.watches > 0, "the watch")
        listed = lists(api)
        for number in range(3):
            before = api.watches
            api.break_watches()
            until(lambda: api.watches > before, "the next watch")
            cluster.call("create", worker_id=f"w{number}")
            watch.tells(f"w{number}")
        same(lists(api), listed, "lists of pods: a watch that breaks off needs none")
        for number in range(3):
            cluster.call("destroy", worker_id=f"w{number}")
            watch.tells(f"w{number}")


def test_a_watch_that_is_too_old_lists_again():
    for as_status in (False, True):
        with a_cluster() as (api, cluster), Watch(cluster) as watch:
            api.gone_as_status = as_status
            cluster.call("create", worker_id="w1")
            watch.tells("w1")
            cluster.runs("w1")
            listed = lists(api)
            watch.forget()
            with api.store.changed:
                # Gone without an event that anybody sees: only a new list can tell.
                api.store.pods[("hodei-workers", "hodei-w1")]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                del api.store.pods[("hodei-workers", "hodei-w1")]
                api.store.compact()
                if as_status:
                    api.watch_generation += 1
            watch.tells("w1")
            check(lists(api) > listed, "410 was not answered with a new list")
            cluster.call("create", worker_id="w2")
            watch.tells("w2")
            cluster.call("destroy", worker_id="w2")


def test_watches_that_end_are_begun_again_from_their_bookmark():
    with a_cluster() as (api, cluster):
        api.longest_watch = 2
        with Watch(cluster) as watch:
            until(lambda: api.watches >= 2, "the second watch")
            cluster.call("create", worker_id="w1")
            watch.tells("w1")
            cluster.call("destroy", worker_id="w1")
        begun = [int(query["resourceVersion"]) for _, _, query in api.asked if "watch" in query]
        check(begun == sorted(begun) and all("timeoutSeconds" in query for _, _, query in api.asked if "watch" in query),
              f"watches begin at {begun}")


def test_long_lists_come_in_pages():
    with a_cluster(capacity=0) as (api, cluster):
        with api.store.changed:
            made = {"hodei.installation": "ours", "hodei.provider": "kubernetes"}
            for number in range(600):
                name = f"hodei-p{number}"
                pod = {"metadata": {"name": name, "labels": made | {"hodei.worker": f"p{number}"}}, "spec": {"containers": []}}
                api.store.create_pod("hodei-workers", pod)
        same(len(cluster.call("list")), 600, "pods that it lists")
        check(lists(api) >= 3, "600 pods came in less than three pages")
        with api.store.changed:
            api.store.pods.clear()


def test_another_pod_of_the_same_name_is_left_alone():
    with a_cluster() as (api, cluster):
        cluster.call("create", worker_id="w1", installation="theirs")
        cluster.refused("create", "ALREADY_EXISTS", "not of this installation", worker_id="w1")
        cluster.call("destroy", worker_id="w1")
        same(api.pods(), ["hodei-w1"], "their pod")
        cluster.call("destroy", worker_id="w1", id="another-uid", installation="theirs")
        same(api.pods(), ["hodei-w1"], "their pod, asked for by another UID")
        cluster.call("destroy", worker_id="w1", installation="theirs")
        same(api.left(), [], "what is left of it")


def test_words_reach_the_worker_as_they_are():
    with a_cluster() as (api, cluster):
        words = "$(HOME) $$ $HOME 5$ \"ü\""
        cluster.call("create", worker_id="w1", **{"env.WORDS": words})
        cluster.runs("w1")
        pid = next(iter(api.kubelet.processes.values())).first_pid()
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
        check(f"WORDS={words}" in environment, f"the worker's environment is {environment}")
        cluster.call("destroy", worker_id="w1")


def test_a_pod_whose_node_is_lost_is_removed_by_force():
    with a_cluster() as (api, cluster):
        with api.store.changed:
            labels = {"hodei.installation": "ours", "hodei.provider": "kubernetes", "hodei.worker": "w1"}
            pod = api.store.create_pod("hodei-workers", {"metadata": {"name": "hodei-w1", "labels": labels},
                                                         "spec": {"nodeName": "lost", "containers": []}})
            pod["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", deletionGracePeriodSeconds=10)
        cluster.call("destroy", worker_id="w1")
        same(api.left(), [], "what is left of it")
