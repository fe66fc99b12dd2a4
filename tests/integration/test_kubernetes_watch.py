"""The watch of pods: it goes on where it broke off, lists again when it must, and bears long lists."""

from harness import check, resource_name, same, until
from kube_cluster import Watch, a_cluster


def lists(api):
    return sum(1 for method, path, query in api.asked if method == "GET" and path.endswith("/pods") and "watch" not in query)


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
                api.store.pods[("hodei-workers", resource_name("w1"))]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                del api.store.pods[("hodei-workers", resource_name("w1"))]
                api.store.compact()
                if as_status:
                    api.watch_generation += 1
            watch.tells("w1")
            until(lambda: lists(api) > listed, "410 to be answered with a new list")
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
