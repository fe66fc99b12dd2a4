"""How the kubernetes provider shows who it is: certificates, tokens that change, service accounts, exec plugins."""

import contextlib
import json
import shutil

from harness import check, contains, same
from kube_api import TOKEN
from kube_cluster import PATH, Watch, a_cluster


def test_a_client_certificate_is_enough():
    with a_cluster() as (api, cluster):
        user = {"client-certificate-data": api.encoded("client.pem"), "client-key-data": api.encoded("client.key")}
        same(cluster.call("health", **{"option.kubeconfig": api.kubeconfig(user)})["state"], "Healthy", "by data")
        user = {"client-certificate": "tls/client.pem", "client-key": "tls/client.key"}
        same(cluster.call("health", **{"option.kubeconfig": api.kubeconfig(user)})["state"], "Healthy", "by files beside it")
        health = cluster.call("health", **{"option.kubeconfig": api.kubeconfig({})})
        same(health["state"], "Unhealthy", "without any credential")
        contains(health["reason"], "rejected the credentials", "without any credential")


def test_the_servers_certificate_must_be_its_own():
    with a_cluster() as (api, cluster):
        named = {"server": api.url, "tls-server-name": "kube.test"}
        same(cluster.call("health", **{"option.kubeconfig": api.kubeconfig(cluster=named)})["state"], "Healthy", "by its name")
        for wrong, word in (({"tls-server-name": "other.test"}, "not trusted"),
                            ({"certificate-authority-data": api.encoded("client.pem")}, "not trusted"),
                            ({"insecure-skip-tls-verify": True}, "is not allowed")):
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
