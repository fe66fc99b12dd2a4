"""Pods that do not come: who waits for them, who does not, and what people are told."""

import time

from cluster import (GONE_WITHIN, STARTED_WITHIN, a_server, first_line, nothing_left, reason_of, words_for)
from harness import contains, until

TOLD_WITHIN = 60.0
TOO_MUCH = "900"       # cores: no node has them
NO_IMAGE = "hodei-tests/no-such-image:0"


def a_pod_that_fits_on_no_node_holds_up_nobody_else(cluster, _):
    with a_server(cluster) as server:
        large = server.submit(*words_for(cluster, "--cpu", TOO_MUCH), "true")
        until(lambda: "Unschedulable" in first_line(server, large),
              lambda: f"the first line to say that no node takes it: {server.cli('job', 'explain', large)!r}", TOLD_WITHIN)
        contains(reason_of(server, large), "Unschedulable", "the reason of the job")
        server.ok("run", *words_for(cluster), "true", timeout=STARTED_WITHIN)
        server.ok("job", "cancel", large)
        nothing_left(cluster, when="after it was cancelled")
        server.ok("run", *words_for(cluster), "true", timeout=STARTED_WITHIN)
        nothing_left(cluster)


def pods_that_nobody_waits_for_go_before_they_start(cluster, _):
    with a_server(cluster) as server:
        large = [server.submit(*words_for(cluster, "--cpu", TOO_MUCH), "true") for _ in range(5)]
        until(lambda: len(cluster.names("Pending")) == 5, lambda: f"five pods: {cluster.names()}", TOLD_WITHIN)
        began = time.monotonic()
        for job in large:
            server.ok("job", "cancel", job)
        until(lambda: not cluster.names("Pending"), lambda: f"no pod to wait any more: {cluster.names('Pending')}", GONE_WITHIN)
        print(f"  gone {time.monotonic() - began:.1f} s after their jobs were cancelled")
        jobs = [server.submit(*words_for(cluster), "true") for _ in range(13)]
        until(lambda: all(server.state(job) == "Succeeded" for job in jobs),
              lambda: f"all jobs to be done: {[server.state(job) for job in jobs]}", STARTED_WITHIN)
        until(lambda: not cluster.names("Pending"), lambda: f"no surplus pod to start: {cluster.names('Pending')}", 15)
        nothing_left(cluster)


def an_image_that_is_not_there_is_named_and_fails_the_job(cluster, _):
    with a_server(cluster, HODEI_PROVISION_LIMIT="20s") as server:
        job = server.submit("--provider", "kubernetes", "--image", NO_IMAGE, "--", "true")
        until(lambda: "no-such-image" in first_line(server, job),
              lambda: f"the first line to name the image: {server.cli('job', 'explain', job)!r}", STARTED_WITHIN)
        contains(first_line(server, job), "Err", "what the kubelet says")
        server.wait_for(job, "Failed", patience=STARTED_WITHIN)
        for word in ("no-such-image", "denied"):
            contains(reason_of(server, job), word, "the registry's own words on the job's end")
        nothing_left(cluster)


def a_namespace_that_is_not_there_is_named(cluster, _):
    with a_server(cluster) as server:
        server.ok("provider", "set", "kubernetes", "--option", "namespace=hodei-tests-no-such-namespace")
        job = server.submit(*words_for(cluster), "true")
        until(lambda: "hodei-tests-no-such-namespace" in first_line(server, job),
              lambda: f"the first line to name the namespace: {server.cli('job', 'explain', job)!r}", TOLD_WITHIN)
        server.ok("job", "cancel", job)


def a_server_that_pods_cannot_reach_is_told(cluster, _):
    with a_server(cluster, advertise="127.0.0.1:9") as server:
        job = server.submit(*words_for(cluster), "true")
        until(lambda: "--advertise" in first_line(server, job),
              lambda: f"the first line to say how pods reach the server: {server.cli('job', 'explain', job)!r}", STARTED_WITHIN)
        contains(first_line(server, job), "127.0.0.1:9", "the address")
        server.ok("job", "cancel", job)
        until(lambda: not cluster.names("Running", "Pending"), lambda: f"no pod to be left: {cluster.names()}", 120)
        nothing_left(cluster)


CHECKS = (a_pod_that_fits_on_no_node_holds_up_nobody_else, pods_that_nobody_waits_for_go_before_they_start,
          an_image_that_is_not_there_is_named_and_fails_the_job, a_namespace_that_is_not_there_is_named,
          a_server_that_pods_cannot_reach_is_told)
