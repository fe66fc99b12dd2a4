#!/usr/bin/env python3
"""A small Kubernetes for the tests: an API server over https with its own CA, and one node that runs pods for real.

Pods: create, get, list (limit, continue), watch (resourceVersion, bookmarks, time-outs, 410 Gone), delete (grace, UID
preconditions), log. Secrets: create, delete. SelfSubjectAccessReview, readyz. Tokens and client certificates. It can be
told to throttle, to fail, to forget history, to refuse by quota or by right, and it judges each request by the official
description of the API where that is there (kube_schema.py).

usage: kube_api.py FOLDER [--image NAME=ROOT]… [--capacity N]    serves until it is ended; FOLDER/kubeconfig leads to it
"""

import argparse
import base64
import http.server
import json
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

from kube_schema import Judge
from kube_store import Refusal, Store, matches, parse_selector
from kubelet import Kubelet

TOKEN = "a-token-of-the-tests"
WORKER_IMAGE = "hodei-worker:latest"
LONGEST_WATCH = 60
KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
BOOKMARK_EVERY = 1.0     # seconds; real servers take a minute

# Enough for kubectl to find its way.
VERBS = ["create", "delete", "get", "list", "watch"]
DISCOVERY = {
    "api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "version": {"major": "1", "minor": "30", "gitVersion": "v1.30.0-tests"},
    "api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": VERBS, "shortNames": ["po"]},
        {"name": "secrets", "singularName": "secret", "namespaced": True, "kind": "Secret", "verbs": VERBS},
        {"name": "namespaces", "singularName": "namespace", "namespaced": False, "kind": "Namespace", "verbs": ["create", "get"],
         "shortNames": ["ns"]}]},
}


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_certificates(folder):
    """A CA, the server's certificate for 127.0.0.1 and `kube.test`, a client's for the user `hodei`."""
    folder.mkdir(parents=True, exist_ok=True)
    openssl(folder, "req", "-x509", *KEY, "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=the tests' cluster")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:kube.test\n")
    for name, subject in (("server", "/CN=kube.test"), ("client", "/O=servers/CN=hodei")):
        openssl(folder, "req", *KEY, "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                "2", "-extfile", "names", "-out", f"{name}.pem")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.handle_request(b"")

    def do_POST(self):
        self.handle_request(self.read_body())

    def do_DELETE(self):
        self.handle_request(self.read_body())

    def read_body(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        return body if len(body) == length else None  # it died while it sent it

    def handle_request(self, body):
        if body is None:
            return
        api = self.server.api
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qsl(url.query, keep_blank_values=True)
        api.asked.append((self.command, url.path, dict(query)))
        try:
            if url.path != "/readyz" or not api.anonymous_readyz:
                self.authenticate(api)
            api.misbehave()
            headers = {name.lower(): value for name, value in self.headers.items()}
            wrong = api.judge.complaints(self.command, self.path, headers, body)
            if wrong:
                api.problems += wrong
                raise Refusal(400, "BadRequest", "; ".join(wrong))
            self.route(api, url.path.strip("/").split("/"), dict(query), json.loads(body) if body else None)
        except Refusal as refusal:
            self.answer(refusal.code, refusal.status(), refusal.retry_after)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def authenticate(self, api):
        given = self.headers.get("Authorization", "")
        certificate = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        if given.removeprefix("Bearer ") in api.tokens or certificate:
            return
        raise Refusal(401, "Unauthorized", "Unauthorized")

    def allow(self, verb, resource):
        if (verb, resource) in self.server.api.denied:
            raise Refusal(403, "Forbidden", f'{resource} is forbidden: User "hodei" cannot {verb} resource "{resource}"')

    def route(self, api, parts, query, body):
        if parts == ["readyz"]:
            return self.answer_text(200 if api.ready else 500, "ok" if api.ready else "[-]etcd failed: reason withheld")
        if parts == ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"]:
            wanted = body["spec"]["resourceAttributes"]
            resource = "/".join(filter(None, [wanted["resource"], wanted.get("subresource")]))
            return self.answer(201, {**body, "status": {"allowed": (wanted["verb"], resource) not in api.denied}})
        if "/".join(parts) in DISCOVERY:
            return self.answer(200, DISCOVERY["/".join(parts)])
        if parts == ["api", "v1", "namespaces"] and self.command == "POST":
            with api.store.changed:
                return self.answer(201, api.store.create_namespace(body))
        if parts[:3] == ["api", "v1", "namespaces"] and len(parts) == 4 and parts[3] in api.store.namespaces:
            return self.answer(200, {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": parts[3]}, "status": {"phase": "Active"}})
        if parts[:3] != ["api", "v1", "namespaces"] or len(parts) < 5:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        namespace, resource, rest = parts[3], parts[4], parts[5:]
        action = getattr(self, f"{self.command.lower()}_{resource}", None)
        if not action:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        return action(api, namespace, rest, query, body)

    # Pods.

    def get_pods(self, api, namespace, rest, query, _):
        if len(rest) == 2 and rest[1] == "log":
            return self.log_of(api, namespace, rest[0], query)
        if rest:
            self.allow("get", "pods")
            with api.store.changed:
                return self.answer(200, self.whole(api.store.pod(namespace, rest[0])))
        if query.get("watch") in ("true", "1"):
            self.allow("watch", "pods")
            return self.watch(api, namespace, query)
        self.allow("list", "pods")
        with api.store.changed:
            found = api.store.list_pods(namespace, parse_selector(query.get("labelSelector")), int(query.get("limit", 0)),
                                        query.get("continue"))
        return self.answer(200, found)

    def post_pods(self, api, namespace, _, __, body):
        self.allow("create", "pods")
        with api.store.changed:
            pod = api.store.create_pod(namespace, body)
            text = json.dumps(self.whole(pod))
        api.kubelet.take(pod)
        self.answer_bytes(201, text.encode(), "application/json")

    def delete_pods(self, api, namespace, rest, _, body):
        self.allow("delete", "pods")
        with api.store.changed:
            text = json.dumps(self.whole(api.store.delete_pod(namespace, rest[0], body or {})))
            api.store.changed.notify_all()
        self.answer_bytes(200, text.encode(), "application/json")

    def whole(self, pod):
        return {"kind": "Pod", "apiVersion": "v1", **pod}

    def log_of(self, api, namespace, name, query):
        self.allow("get", "pods/log")
        with api.store.changed:
            pod = api.store.pod(namespace, name)
        log = api.kubelet.place_of(pod) / f"{query.get('container', 'worker')}.log"
        if not log.exists():
            raise Refusal(400, "BadRequest", f'container "{query.get("container")}" in pod "{name}" is waiting to start')
        lines = log.read_text(errors="replace").splitlines(keepends=True)
        if "tailLines" in query:
            lines = lines[-int(query["tailLines"]):] if int(query["tailLines"]) else []
        self.answer_text(200, "".join(lines)[:int(query.get("limitBytes", 1 << 30))])

    # Secrets: only their names can be read here.

    def get_secrets(self, api, namespace, _, query, __):
        self.allow("list", "secrets")
        selector = parse_selector(query.get("labelSelector"))
        with api.store.changed:
            items = [{"metadata": secret["metadata"]} for (space, _), secret in api.store.secrets.items()
                     if space == namespace and matches(secret, selector)]
        self.answer(200, {"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items})

    def post_secrets(self, api, namespace, _, __, body):
        self.allow("create", "secrets")
        with api.store.changed:
            made = api.store.create_secret(namespace, body)
        self.answer(201, made)

    def delete_secrets(self, api, namespace, rest, _, __):
        self.allow("delete", "secrets")
        with api.store.changed:
            api.store.delete_secret(namespace, rest[0])
        self.answer(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})

    # Watching.

    def watch(self, api, namespace, query):
        selector = parse_selector(query.get("labelSelector"))
        revision = int(query.get("resourceVersion") or 0)
        generation = api.watch_generation
        end = time.monotonic() + min(int(query.get("timeoutSeconds", LONGEST_WATCH)), api.longest_watch)
        bookmarks = query.get("allowWatchBookmarks") == "true"
        if api.gone_as_status and revision < api.store.oldest:
            raise Refusal(410, "Expired", f"too old resource version: {revision}")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        api.watches += 1
        marked = time.monotonic()
        while time.monotonic() < end and not api.stopping:
            try:
                with api.store.changed:
                    found = api.store.events_after(revision, namespace, selector)
                    if not found:
                        api.store.changed.wait(0.2)
                        found = api.store.events_after(revision, namespace, selector)
                    seen = api.store.revision
            except Refusal as refusal:
                self.event("ERROR", refusal.status())
                break
            if generation != api.watch_generation:
                self.close_connection = True       # in the middle of the stream, without a last chunk
                return
            for _, kind, pod in found:
                self.event(kind, self.whole(pod))
            revision = seen
            if bookmarks and time.monotonic() - marked > BOOKMARK_EVERY:
                marked = time.monotonic()
                self.event("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": str(revision)}})
        self.chunk(b"")

    def event(self, kind, item):
        self.chunk(json.dumps({"type": kind, "object": item}).encode() + b"\n")

    def chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    # Answers.

    def answer(self, code, item, retry_after=None):
        self.answer_bytes(code, json.dumps(item).encode(), "application/json", retry_after)

    def answer_text(self, code, text):
        self.answer_bytes(code, text.encode(), "text/plain")

    def answer_bytes(self, code, data, kind, retry_after=None):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def finish_request(self, request, client_address):
        # Here and not when it is accepted: a client that does not finish its handshake holds up nobody else.
        request.settimeout(30)
        request = self.tls.wrap_socket(request, server_side=True)
        request.settimeout(None)
        with request:
            super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.api.errors.append(error)


class KubeApi:
    """`images`: name → folder that becomes the container's root, or '' for the host. `capacity`: pods that have room."""

    def __init__(self, folder, worker, images=None, capacity=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        program = self.folder / "hodei-worker"     # readable for every user, wherever the build folder is
        shutil.copy(worker, program)
        program.chmod(0o755)
        self.store = Store()
        self.kubelet = Kubelet(self.store, self.folder, {WORKER_IMAGE: {"entry": [str(program)]}, **(images or {})}, capacity)
        self.judge = Judge()
        self.problems, self.errors, self.asked = [], self.kubelet.errors, []
        self.tokens, self.denied = {TOKEN}, set()
        self.ready, self.anonymous_readyz, self.gone_as_status = True, False, False
        self.watches, self.watch_generation, self.longest_watch = 0, 0, LONGEST_WATCH
        self.faults = []               # refusals for the next requests
        self.stopping = False
        self.server = None

    def misbehave(self):
        with self.store.changed:
            fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault

    def throttle(self, requests, seconds=1):
        with self.store.changed:
            self.faults += [Refusal(429, "TooManyRequests", "The server has received too many requests", seconds)] * requests

    def fail(self, requests, code=503):
        with self.store.changed:
            self.faults += [Refusal(code, "ServiceUnavailable", "etcdserver: leader changed")] * requests

    def break_watches(self):
        with self.store.changed:
            self.watch_generation += 1
            self.store.changed.notify_all()

    def compact(self):
        with self.store.changed:
            self.store.compact()

    def __enter__(self):
        certificates = self.folder / "tls"
        make_certificates(certificates)
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.api = self
        self.server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.tls.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        self.server.tls.load_verify_locations(certificates / "ca.pem")
        self.server.tls.verify_mode = ssl.CERT_OPTIONAL
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.kubelet.stop()
        self.server.shutdown()
        self.server.server_close()

    def pods(self):
        with self.store.changed:
            return sorted(name for _, name in self.store.pods)

    def left(self):
        """All that is there of workers: pods, secrets, processes."""
        with self.store.changed:
            things = [f"pod {name}" for _, name in self.store.pods] + [f"secret {name}" for _, name in self.store.secrets]
        return things + [f"process of {uid}" for uid in self.kubelet.processes]

    def encoded(self, name):
        return base64.b64encode((self.folder / "tls" / name).read_bytes()).decode()

    def kubeconfig(self, user=None, cluster=None, name="kubeconfig"):
        """Writes one; `user` and `cluster` replace or add to the usual entries. JSON is YAML."""
        usual = {"server": self.url, "certificate-authority-data": self.encoded("ca.pem")}
        document = {"apiVersion": "v1", "kind": "Config", "current-context": "tests", "preferences": {},
                    "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
                    "clusters": [{"name": "tests", "cluster": {**usual, **(cluster or {})}}],
                    "users": [{"name": "tests", "user": {"token": TOKEN} if user is None else user}]}
        path = self.folder / name
        path.write_text(json.dumps(document, indent=1))
        return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--worker", required=True, help="the static worker")
    parser.add_argument("--image", action="append", default=[], help="NAME=ROOT; without ROOT the host is the image")
    parser.add_argument("--capacity", type=int)
    arguments = parser.parse_args()
    images = dict((one.split("=", 1) + [""])[:2] for one in arguments.image)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with KubeApi(arguments.folder, arguments.worker, images, arguments.capacity) as api:
        print(f"KUBECONFIG={api.kubeconfig()}", flush=True)
        ended.wait()
    for wrong in api.problems + api.errors:
        print(f"wrong: {wrong}", file=sys.stderr)
    return 1 if api.problems or api.errors else 0


if __name__ == "__main__":
    sys.exit(main())
