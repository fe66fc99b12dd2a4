"""The kubernetes provider against an API server that runs pods for real: what it asks for, bears and leaves behind."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import check, contains, resource_name, same, until
from kube_cluster import CHECK, IMAGE, PATH, SECRET, WORKER, a_cluster, worker_of


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
        same([name for _, name in api.store.secrets], [resource_name("w1") + "-token"], "the secrets")
        environment = (worker_of(api) / "environ").read_bytes()
        check(SECRET.encode() in environment, "the worker does not have its token")
        cluster.call("destroy", worker_id="w1")
        same(api.left(), [], "what is left of it")


def test_the_worker_has_no_rights_of_root():
    with a_cluster() as (api, cluster):
        cluster.call("create", worker_id="w1")
        cluster.runs("w1")
        status = (worker_of(api) / "status").read_text()
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
            root = worker_of(api) / "root"
            check((root / "hodei/hodei-worker").exists(), "the worker is not in the image's root")
            same(sorted(p.name for p in (root / "etc").iterdir()), [], "files of the image's /etc")
            cluster.call("destroy", worker_id="w1")
    finally:
        shutil.rmtree(image, ignore_errors=True)


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
        cluster.refused("list", "UNAVAILABLE", "throttling")
        check(len(api.asked) < 20, f"{len(api.asked)} requests to a server that is too busy")


def test_a_quota_is_no_room():
    with a_cluster() as (api, cluster):
        api.store.quota = 1
        cluster.call("create", worker_id="w1")
        cluster.refused("create", "RESOURCE_EXHAUSTED", "quota", worker_id="w2")
        same(api.pods(), [resource_name("w1")], "the pods")
        cluster.call("destroy", worker_id="w1")


def test_errors_of_images_and_nodes_come_as_reasons():
    with a_cluster(capacity=1) as (api, cluster):
        cluster.call("create", worker_id="w1", image="no/such:image")
        seen = cluster.status_until("w1", lambda s: s["hopeless"] == "true", "to be hopeless")
        contains(seen["reason"], "no/such:image", "reason of a missing image")
        same(seen["phase"], "Starting", "phase of a missing image")
        cluster.call("create", worker_id="w2")
        seen = cluster.status_until("w2", lambda s: s["reason"], "to say why it waits")
        contains(seen["reason"], "no node can run it", "reason of no room")
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
        api.kubelet.oom.add(resource_name("w1"))
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
        contains(health["reason"], "not allowed to create pods", "its words")
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


def test_another_pod_of_the_same_name_is_left_alone():
    with a_cluster() as (api, cluster):
        ours = resource_name("w1")
        with api.store.changed:
            labels = {"hodei.installation": "theirs", "hodei.provider": "kubernetes", "hodei.worker": "w1"}
            api.store.create_pod("hodei-workers", {"metadata": {"name": ours, "labels": labels}, "spec": {"containers": []}})
        cluster.refused("create", "ALREADY_EXISTS", "another installation", worker_id="w1")
        cluster.call("destroy", worker_id="w1")
        same(api.pods(), [ours], "their pod")


def test_two_installations_in_one_namespace_do_not_meet():
    with a_cluster() as (api, cluster):
        cluster.call("create", worker_id="w1")
        cluster.call("create", worker_id="w1", installation="theirs")
        same(sorted(api.pods()), sorted([resource_name("w1"), resource_name("w1", "theirs")]), "the pods")
        cluster.call("destroy", worker_id="w1", id="another-uid", installation="theirs")
        cluster.call("destroy", worker_id="w1")
        same(api.pods(), [resource_name("w1", "theirs")], "their pod, also when asked for by another UID")
        cluster.call("destroy", worker_id="w1", installation="theirs")
        same(api.left(), [], "what is left of both")


def test_words_reach_the_worker_as_they_are():
    with a_cluster() as (api, cluster):
        words = "$(HOME) $$ $HOME 5$ \"ü\""
        cluster.call("create", worker_id="w1", **{"env.WORDS": words})
        cluster.runs("w1")
        environment = (worker_of(api) / "environ").read_bytes().decode().split("\0")
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
