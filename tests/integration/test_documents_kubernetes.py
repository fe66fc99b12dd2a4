"""The guide to the kubernetes provider, from what quickstart leaves behind to the output of a job in a pod."""

import contextlib
import pathlib
import shutil
import tempfile

from documents import read
from kube_api import KubeApi
from kube_cluster import WORKER


@contextlib.contextmanager
def a_new_cluster():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-kube-", dir="/tmp"))
    try:
        with KubeApi(folder, WORKER, {"debian:12-slim": ""}) as api:
            api.store.namespaces.discard("hodei-workers")
            yield api
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_providers_kubernetes():
    if not shutil.which("kubectl"):
        print("  skipped: the guide is not run: there is no kubectl here")
        return
    with a_new_cluster() as api:
        def kubeconfig_at_its_place(dev):
            (dev.folder / ".kube").mkdir()
            shutil.copy(api.kubeconfig(), dev.folder / ".kube/config")
            return {"192.0.2.10": "127.0.0.1", "0.0.0.0": "127.0.0.1"}
        read("docs/providers/kubernetes.md", kubeconfig_at_its_place, start=False)
