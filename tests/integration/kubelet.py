"""What a node does with a pod: waits for room, fetches images, runs its containers as real processes, ends them.

As root a container has process ids of its own, so that nothing survives it, and the user and (lack of) rights of its
security context; an image is a folder that becomes its root, or the host itself. Otherwise it is a plain process.
"""

import base64
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

from kube_store import stamp
from pod_resources import limit, memory_of, requests, storage_of

IMAGE = re.compile(r"[a-z0-9]+([._/:@-]+[A-Za-z0-9]+)*")
LOOK = 0.05      # seconds between two looks at a process
HOUSEKEEPING = 0.25    # seconds between two looks at what a pod uses
NODE = {"cpu": 8.0, "memory": 16 * 2**30, "ephemeral-storage": 100 * 2**30}     # what the node has for pods
NO_VICTIMS = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."


def expand(value, known):
    """$(NAME) in a value of the environment; $$ is a $."""
    def one(found):
        if found.group(0) == "$$":
            return "$"
        return known.get(found.group(1), found.group(0))
    return re.sub(r"\$\$|\$\(([^)]*)\)", one, value)


class Kubelet:
    """One thread per pod."""

    def __init__(self, store, folder, images, capacity):
        self.store, self.folder, self.images, self.capacity = store, folder, images, capacity
        self.stopping = False
        self.threads = []
        self.processes = {}            # uid → Container that runs
        self.most_running = 0
        self.errors = []
        self.slow_image = set()        # images that take until somebody takes them out
        self.oom = set()               # names of pods whose end is told as OOMKilled
        self.all_oom = False           # that of all pods is
        self.evicted = {}              # name of a pod → why it is to be evicted, in the kubelet's words

    def take(self, pod):
        thread = threading.Thread(target=self.run, args=(pod,), daemon=True)
        self.threads.append(thread)
        thread.start()

    def place_of(self, pod):
        return self.folder / "pods" / pod["metadata"]["uid"]

    def run(self, pod):
        place = self.place_of(pod)
        try:
            if self.schedule(pod) and self.start_init(pod, place):
                self.run_main(pod, place)
            self.wait_for(lambda: self.is_over(pod))
        except Exception as error:  # the test must hear of it
            self.errors.append(error)
        finally:
            for mount in place.glob("volumes/*"):
                if os.path.ismount(mount):
                    subprocess.run(["umount", "-l", str(mount)], check=False)
            shutil.rmtree(place, ignore_errors=True)
            with self.store.changed:
                self.store.remove_pod(pod)

    # Waiting.

    def is_over(self, pod):
        return self.stopping or "deletionTimestamp" in pod["metadata"] or self.is_removed(pod)

    def is_removed(self, pod):
        return self.store.pods.get((pod["metadata"]["namespace"], pod["metadata"]["name"])) is not pod

    def wait_for(self, condition):
        with self.store.changed:
            while not condition():
                self.store.changed.wait(1)

    def update(self, pod, **status):
        with self.store.changed:
            pod["status"].update(status)
            if not self.is_removed(pod):
                self.store.record("MODIFIED", pod)

    # The steps.

    def schedule(self, pod):
        scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp()}
        with self.store.changed:
            while not self.is_over(pod) and self.missing_for(pod):
                refused = {**scheduled, "status": "False", "reason": "Unschedulable",
                           "message": f"0/1 nodes are available: {', '.join(self.missing_for(pod))}. {NO_VICTIMS}"}
                if pod["status"].get("conditions") != [refused]:
                    self.update(pod, conditions=[refused])
                self.store.changed.wait(1)
            if self.is_over(pod):
                return False
            pod["spec"]["nodeName"] = "node-1"
            self.update(pod, conditions=[scheduled], startTime=stamp(), hostIP="127.0.0.1")
            return True

    def missing_for(self, pod):
        """What keeps the pod from the only node, as the scheduler says it."""
        there = [one for one in self.store.pods.values()
                 if one["spec"].get("nodeName") and one["status"]["phase"] not in ("Succeeded", "Failed")]
        missing = [f"1 Insufficient {resource}" for resource, has in NODE.items()
                   if sum(requests(one, resource) for one in there) + requests(pod, resource) > has]
        return missing + (["1 Too many pods"] if self.capacity is not None and len(there) >= self.capacity else [])

    def container_status(self, container, state, **more):
        return {"name": container["name"], "image": container["image"], "imageID": "", "ready": "running" in state,
                "restartCount": 0, "started": "running" in state, "state": state, **more}

    def image_of(self, pod, container, field):
        """The image's root, '' for the host; None when the pod went before there was one."""
        name = container["image"]
        def waits(reason, message=None):
            waiting = {"reason": reason, **({"message": message} if message else {})}
            self.update(pod, **{field: [self.container_status(container, {"waiting": waiting})]})
        waits("PodInitializing" if field == "containerStatuses" else "ContainerCreating")
        if name in self.slow_image:
            self.wait_for(lambda: self.is_over(pod) or name not in self.slow_image)
        if not IMAGE.fullmatch(name):
            waits("InvalidImageName", f'Failed to apply default image tag "{name}": couldn\'t parse image name: invalid reference format')
        elif name not in self.images:
            full = f"docker.io/{name}"
            waits("ErrImagePull", f'failed to pull and unpack image "{full}": failed to resolve reference "{full}": pull access '
                                  "denied, repository does not exist or may require authorization: server message: "
                                  "insufficient_scope: authorization failed")
            waits("ImagePullBackOff", f'Back-off pulling image "{name}"')
        else:
            return None if self.is_over(pod) else self.images[name]
        self.wait_for(lambda: self.is_over(pod))
        return None

    def start_init(self, pod, place):
        for container in pod["spec"].get("initContainers", []):
            image = self.image_of(pod, container, "initContainerStatuses")
            if image is None:
                return False
            code = Container(self, pod, container, image, place).run_to_its_end()
            ended = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error", "finishedAt": stamp()}}
            self.update(pod, initContainerStatuses=[self.container_status(container, ended)],
                        **({} if code == 0 else {"phase": "Failed"}))
            if code != 0:
                return False
        return True

    def environment_of(self, pod, container):
        """As the container sees it; None while a Secret is missing."""
        known = {}
        for word in container.get("env", []):
            if "valueFrom" not in word:
                known[word["name"]] = expand(word.get("value", ""), known)
                continue
            reference = word["valueFrom"]["secretKeyRef"]
            secret = self.store.secrets.get((pod["metadata"]["namespace"], reference["name"]))
            if not secret:
                return None
            known[word["name"]] = base64.b64decode(secret["data"][reference["key"]]).decode()
        return known

    def run_main(self, pod, place):
        container = pod["spec"]["containers"][0]
        image = self.image_of(pod, container, "containerStatuses")
        if image is None:
            return
        with self.store.changed:
            while not self.is_over(pod) and self.environment_of(pod, container) is None:
                self.update(pod, containerStatuses=[self.container_status(container, {"waiting": {
                    "reason": "CreateContainerConfigError", "message": f'secret "{pod["metadata"]["name"]}-token" not found'}})])
                self.store.changed.wait(0.2)
            if self.is_over(pod):
                return
            running = Container(self, pod, container, image, place, self.environment_of(pod, container))
        running.start()
        self.processes[pod["metadata"]["uid"]] = running
        self.most_running = max(self.most_running, len(self.processes))
        self.update(pod, phase="Running", containerStatuses=[self.container_status(
            container, {"running": {"startedAt": stamp()}})])
        code = self.wait_for_end(pod, running)
        self.processes.pop(pod["metadata"]["uid"], None)
        name = pod["metadata"]["name"]
        reason = "OOMKilled" if self.all_oom or name in self.oom else "Completed" if code == 0 else "Error"
        evicted = {"reason": "Evicted", "message": self.evicted[name]} if name in self.evicted else {}
        self.update(pod, phase="Succeeded" if code == 0 else "Failed", **evicted, containerStatuses=[self.container_status(
            container, {"terminated": {"exitCode": code, "reason": reason, "finishedAt": stamp()}})])

    def look_after(self, pod, running):
        """Ends what takes more than its limits: the kernel for memory, all of the container at once, the kubelet for storage."""
        name = pod["metadata"]["name"]
        memory, storage = (limit(running.container, word) for word in ("memory", "ephemeral-storage"))
        if memory is not None and memory_of(running.process.pid) > memory:
            self.oom.add(name)
            running.kill()
        elif storage is not None and storage_of(running.folder) > storage:
            self.evicted[name] = ("Pod ephemeral local storage usage exceeds the total limit of containers "
                                  f"{running.container['resources']['limits']['ephemeral-storage']}. ")
        if name in self.evicted:
            running.kill()

    def wait_for_end(self, pod, running):
        asked, look_at = None, 0
        while running.code() is None:
            if time.monotonic() >= look_at and running.process.poll() is None:
                self.look_after(pod, running)
                look_at = time.monotonic() + HOUSEKEEPING
            if self.is_over(pod) and asked is None:
                asked = time.monotonic()
                running.send(signal.SIGTERM)
            grace = 0 if self.stopping or self.is_removed(pod) else pod["metadata"].get("deletionGracePeriodSeconds", 0)
            if asked is not None and time.monotonic() - asked >= grace:
                running.kill()
            time.sleep(LOOK)
        running.kill()
        return running.code()

    def stop(self):
        self.stopping = True
        with self.store.changed:
            self.store.changed.notify_all()
        for thread in self.threads:
            thread.join(30)


class Container:
    """One process and all that it starts."""

    def __init__(self, kubelet, pod, container, image, place, environment=None):
        self.folder, self.root = place, image if isinstance(image, (str, pathlib.Path)) else ""
        self.entry = image.get("entry", []) if isinstance(image, dict) else []
        self.pod, self.container, self.environment = pod, container, environment or {}
        self.as_root = os.geteuid() == 0
        self.log = place / f"{container['name']}.log"
        self.process = None
        self.mounts = {}              # path in the container → folder here
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)
        for mount in container.get("volumeMounts", []):
            volume = place / "volumes" / mount["name"]
            volume.mkdir(parents=True, exist_ok=True)
            kind = next(one for one in pod["spec"]["volumes"] if one["name"] == mount["name"])["emptyDir"]
            if kind.get("medium") == "Memory" and self.as_root and not os.path.ismount(volume):
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kind.get('sizeLimit', '64Mi').rstrip('i')}", "tmpfs",
                                str(volume)], check=True)
            volume.chmod(0o777)
            self.mounts[mount["mountPath"]] = volume

    def on_host(self, word):
        """Where the host is the image, the volumes lie elsewhere than the container thinks."""
        for path, volume in self.mounts.items():
            if not self.root and (word == path or word.startswith(path + "/")):
                return str(volume) + word[len(path):]
        return word

    def command(self):
        words = self.container.get("command", self.entry) + self.container.get("args", [])
        words = [self.on_host(word) for word in words]
        if not self.as_root:
            return words
        context = {**self.pod["spec"].get("securityContext", {}), **self.container.get("securityContext", {})}
        user, root = str(context.get("runAsUser", 0)), str(self.root)
        prepare = f'mount -t proc proc "{root}/proc"'
        for path, volume in self.mounts.items() if root else []:
            prepare += f' && mkdir -p "{root}{path}" && mount --bind "{volume}" "{root}{path}"'
        drop = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs", "--bounding-set=-all",
                "--inh-caps=-all"]
        chroot = ["chroot", f"--userspec={user}:{user}", "--groups=", root] if root else drop
        return ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--propagation", "private", "sh", "-c",
                prepare + ' && exec "$@"', "sh", *chroot, *words]

    def start(self):
        environment = {"PATH": os.environ["PATH"], **{k: self.on_host(v) for k, v in self.environment.items()}}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                            env=environment, start_new_session=True)

    def run_to_its_end(self):
        self.start()
        return self.process.wait()

    def first_pid(self):
        """The container's first process: the child of unshare, or the process itself."""
        if not self.as_root:
            return self.process.pid
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            return int(children.read_text().split()[0])
        except (OSError, IndexError):
            return None

    def send(self, number):
        pid = self.first_pid()
        try:
            if pid:
                os.kill(pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.send(signal.SIGKILL)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.process.wait()

    def code(self):
        """None while it runs; 128 + the signal when one ended it."""
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code
