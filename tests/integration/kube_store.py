"""The objects of a small Kubernetes: versions, conflicts, events to watch, and what the API server itself decides."""

import base64
import copy
import datetime
import json
import re
import threading
import uuid

KEPT_EVENTS = 5000
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class Refusal(Exception):
    """An answer that is no success, as the API server words it."""

    def __init__(self, code, reason, message, retry_after=None):
        super().__init__(message)
        self.code, self.reason, self.message, self.retry_after = code, reason, message, retry_after

    def status(self):
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message,
                "reason": self.reason, "code": self.code}


def gone(what):
    return Refusal(410, "Expired", what)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def stamp(time=None):
    return (time or now()).strftime("%Y-%m-%dT%H:%M:%SZ")


def matches(item, selector):
    """`a=b,c=d`: all of them equal."""
    labels = item["metadata"].get("labels", {})
    return all(labels.get(key) == value for key, value in selector)


def parse_selector(text):
    return [tuple(part.split("=", 1)) for part in text.split(",") if part] if text else []


class Store:
    """All objects behind one lock; `changed` is notified with every change."""

    def __init__(self):
        self.changed = threading.Condition()
        self.revision = 100
        self.oldest = 0               # watches from before this have missed something
        self.events = []              # (revision, type, pod)
        self.pods = {}                # (namespace, name) → Pod
        self.secrets = {}
        self.namespaces = {"default", "hodei-workers"}
        self.quota = None             # pods per namespace
        self.most_pods = 0            # that were there at one time
        self.continued = {}           # token of a list → (revision, what is left)

    # Writing. All of these are called with the lock held.

    def record(self, kind, pod):
        self.revision += 1
        pod["metadata"]["resourceVersion"] = str(self.revision)
        self.events.append((self.revision, kind, copy.deepcopy(pod)))
        if len(self.events) > KEPT_EVENTS:
            self.oldest = self.events[0][0]
            del self.events[0]
        self.changed.notify_all()

    def check_new(self, kind, body, namespace, there):
        metadata = body.get("metadata") or {}
        name = metadata.get("name", "")
        if namespace not in self.namespaces:
            raise Refusal(404, "NotFound", f'namespaces "{namespace}" not found')
        if metadata.get("namespace", namespace) != namespace:
            raise Refusal(400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request")
        if not NAME.fullmatch(name) or len(name) > 253:
            raise Refusal(422, "Invalid", f'{kind} "{name}" is invalid: metadata.name: Invalid value: "{name}"')
        if (namespace, name) in there:
            raise Refusal(409, "AlreadyExists", f'{kind} "{name}" already exists')

    def create_pod(self, namespace, body):
        self.check_new("pods", body, namespace, self.pods)
        name = body["metadata"]["name"]
        used = sum(1 for space, _ in self.pods if space == namespace)
        if self.quota is not None and used >= self.quota:
            raise Refusal(403, "Forbidden", f'pods "{name}" is forbidden: exceeded quota: all, requested: pods=1, '
                                            f"used: pods={used}, limited: pods={self.quota}")
        pod = copy.deepcopy(body)
        pod["metadata"].update(namespace=namespace, uid=str(uuid.uuid4()), creationTimestamp=stamp(), generation=1)
        pod["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
        self.pods[(namespace, name)] = pod
        self.most_pods = max(self.most_pods, len(self.pods))
        self.record("ADDED", pod)
        return pod

    def remove_pod(self, pod):
        key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        if self.pods.get(key) is pod:
            del self.pods[key]
            self.record("DELETED", pod)
            self.collect_garbage()

    def collect_garbage(self):
        """What is owned by pods that are no more."""
        alive = {pod["metadata"]["uid"] for pod in self.pods.values()}
        for key, secret in list(self.secrets.items()):
            owners = secret["metadata"].get("ownerReferences", [])
            if owners and not any(owner["uid"] in alive for owner in owners):
                del self.secrets[key]

    def delete_pod(self, namespace, name, options):
        """Marks it; its kubelet ends it. Without a node or after its end it goes at once."""
        pod = self.pod(namespace, name)
        metadata = pod["metadata"]
        wanted = (options.get("preconditions") or {}).get("uid")
        if wanted and wanted != metadata["uid"]:
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on pods "{name}": Precondition failed: UID in '
                                           f'precondition: {wanted}, UID in object meta: {metadata["uid"]}')
        grace = options.get("gracePeriodSeconds", pod["spec"].get("terminationGracePeriodSeconds", 30))
        if not pod["spec"].get("nodeName") or pod["status"]["phase"] in ("Succeeded", "Failed"):
            grace = 0
        if "deletionTimestamp" not in metadata or grace < metadata["deletionGracePeriodSeconds"]:
            metadata["deletionTimestamp"] = stamp(now() + datetime.timedelta(seconds=grace))
            metadata["deletionGracePeriodSeconds"] = grace
            if grace > 0:
                self.record("MODIFIED", pod)
        if grace == 0:
            self.remove_pod(pod)
        return pod

    def create_namespace(self, body):
        name = body["metadata"]["name"]
        if name in self.namespaces:
            raise Refusal(409, "AlreadyExists", f'namespaces "{name}" already exists')
        self.namespaces.add(name)
        return {**body, "status": {"phase": "Active"}}

    def create_secret(self, namespace, body):
        self.check_new("secrets", body, namespace, self.secrets)
        secret = copy.deepcopy(body)
        for key, value in secret.pop("stringData", {}).items():
            secret.setdefault("data", {})[key] = base64.b64encode(value.encode()).decode()
        self.revision += 1
        secret["metadata"].update(namespace=namespace, uid=str(uuid.uuid4()), creationTimestamp=stamp(),
                                  resourceVersion=str(self.revision))
        self.secrets[(namespace, secret["metadata"]["name"])] = secret
        answer = copy.deepcopy(secret)
        self.collect_garbage()
        self.changed.notify_all()
        return answer

    def delete_secret(self, namespace, name):
        if self.secrets.pop((namespace, name), None) is None:
            raise Refusal(404, "NotFound", f'secrets "{name}" not found')

    # Reading.

    def pod(self, namespace, name):
        if (namespace, name) not in self.pods:
            raise Refusal(404, "NotFound", f'pods "{name}" not found')
        return self.pods[(namespace, name)]

    def list_pods(self, namespace, selector, limit, token):
        if token:
            if token not in self.continued:
                raise gone("The provided continue parameter is too old to display a consistent list result.")
            revision, items = self.continued.pop(token)
        else:
            revision = self.revision
            items = [copy.deepcopy(pod) for (space, _), pod in sorted(self.pods.items())
                     if space == namespace and matches(pod, selector)]
        metadata = {"resourceVersion": str(revision)}
        if limit and len(items) > limit:
            token = base64.b64encode(json.dumps([revision, uuid.uuid4().hex]).encode()).decode()
            self.continued[token] = (revision, items[limit:])
            metadata.update({"continue": token, "remainingItemCount": len(items) - limit})
            items = items[:limit]
        return {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}

    def events_after(self, revision, namespace, selector):
        """Those that a watch from this revision sees next."""
        if revision < self.oldest:
            raise gone(f"too old resource version: {revision} ({self.oldest})")
        return [(at, kind, pod) for at, kind, pod in self.events
                if at > revision and pod["metadata"]["namespace"] == namespace and matches(pod, selector)]

    def compact(self):
        """Forgets all history, as etcd does every five minutes: who watches from before must list again."""
        self.revision += 1
        self.oldest = self.revision
        self.events.clear()
        self.continued.clear()
        self.changed.notify_all()
