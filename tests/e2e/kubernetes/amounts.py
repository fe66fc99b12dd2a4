"""What jobs ask for and what pods have: cores in thousandths, memory, storage, secrets, a sandbox."""

from cluster import (LOST_WITHIN, STARTED_WITHIN, a_server, nothing_left, reason_of, words_for)
from harness import check, contains, same, until


def parts_of_a_core_run_and_make_one_pod_each(cluster, _):
    with a_server(cluster) as server:
        seen = set()
        for cores in ("0.25", "0.035", "1.005"):
            job = server.submit(*words_for(cluster, "--cpu", cores), "true")
            before = len(seen)

            def is_done(job=job):
                seen.update(cluster.names())
                return server.state(job) == "Succeeded"
            until(is_done, lambda job=job: f"--cpu {cores} to run: {server.cli('job', 'explain', job)!r}", STARTED_WITHIN)
            check(len(seen) <= before + 1, f"--cpu {cores} made {len(seen) - before} pods: {seen}")
        nothing_left(cluster)


def a_job_with_limits_runs_only_where_they_hold(cluster, _):
    with a_server(cluster) as server:
        free = server.submit(*words_for(cluster), "true")
        server.wait_for(free, "Succeeded", patience=STARTED_WITHIN)
        # Its pod stays for a moment, idle and without any limit.
        limited = server.submit(*words_for(cluster, "--memory", "128M", "--cpu", "0.5"), "true")
        server.wait_for(limited, "Succeeded", patience=STARTED_WITHIN)
        where = [server.get(job)["worker_id"] for job in (free, limited)]
        check(where[0] != where[1], f"a job with limits ran in the pod without any: {where}")
        check("cannot enforce" not in reason_of(server, limited), f"the end of a limited job: {reason_of(server, limited)}")
        nothing_left(cluster)


def a_job_over_its_memory_fails_and_says_so(cluster, _):
    with a_server(cluster) as server:
        # Each alone keeps below the limit; all of them together do not.
        job = server.submit(*words_for(cluster, "--memory", "128M"), "sh", "-c",
                            "for i in 1 2 3 4; do head -c 60000000 /dev/zero | tail | sleep 20 & done; wait; true")
        server.wait_for(job, "Failed", patience=STARTED_WITHIN + LOST_WITHIN)
        reason = reason_of(server, job)
        check("memory" in reason or "OOMKilled" in reason, f"the end of a job over its memory: {reason}")
        nothing_left(cluster)


def storage_is_what_the_job_has_for_itself(cluster, _):
    with a_server(cluster) as server:
        server.ok("run", *words_for(cluster, "--storage", "10M"), "sh", "-c", "echo small > file && cat file", timeout=STARTED_WITHIN)
        # Not in its own folder, where the worker would stop it: the kubelet finds it.
        job = server.submit(*words_for(cluster, "--storage", "10M"), "sh", "-c",
                            "head -c 400000000 /dev/zero > ../../fill && sleep 120")
        server.wait_for(job, "Failed", patience=STARTED_WITHIN + LOST_WITHIN)
        contains(reason_of(server, job), "Evicted", "the end of a job whose pod was evicted")
        nothing_left(cluster)


def secrets_are_files_in_memory_and_a_sandbox_is_refused(cluster, _):
    with a_server(cluster) as server:
        server.ok("secret", "set", "password", "--value-stdin", text="hunter2")
        job = server.submit(*words_for(cluster, "--secret", "password", "--secret-files"), "sh", "-c",
                            'test "$(cat "$HODEI_SECRETS/password")" = hunter2')
        server.wait_for(job, "Succeeded", "Failed", patience=STARTED_WITHIN)
        same(server.state(job), "Succeeded", f"a job that reads a secret from a file: {reason_of(server, job)}")
        refused = server.cli("job", "submit", *words_for(cluster, "--sandbox"), "true")
        check(refused.code != 0, "a sandbox in a pod was accepted")
        contains(refused.err, "sandbox", "why it was refused")
        contains(refused.err, "kubernetes", "why it was refused")
        nothing_left(cluster)


CHECKS = (parts_of_a_core_run_and_make_one_pod_each, a_job_with_limits_runs_only_where_they_hold,
          a_job_over_its_memory_fails_and_says_so, storage_is_what_the_job_has_for_itself,
          secrets_are_files_in_memory_and_a_sandbox_is_refused)
