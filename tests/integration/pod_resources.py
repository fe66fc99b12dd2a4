"""What a pod asks for and what it uses: quantities of Kubernetes, and the memory and storage of a pod's processes."""

import pathlib

UNITS = {"": 1, "m": 0.001, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def quantity(text):
    """'250m' → 0.25, '64Mi' → 67108864."""
    number = text.rstrip("mkMGTKi")
    return float(number) * UNITS[text[len(number):]]


def requests(pod, resource):
    """As the scheduler counts: all containers together, or the largest init container."""
    def asked(container):
        return quantity(container.get("resources", {}).get("requests", {}).get(resource, "0"))
    spec = pod["spec"]
    return max([sum(map(asked, spec["containers"])), *map(asked, spec.get("initContainers", []))])


def limit(container, resource):
    """None: there is none."""
    text = container.get("resources", {}).get("limits", {}).get(resource)
    return None if text is None else quantity(text)


def descendants(pid):
    """All processes below this one, and itself."""
    children = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(folder.name))
    found, left = [], [pid]
    while left:
        found.append(left.pop())
        left += children.get(found[-1], [])
    return found


def memory_of(pid):
    """What a cgroup would have to keep in memory: pages of programs can be read again."""
    total = 0
    for one in descendants(pid):
        try:
            lines = pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return total


def storage_of(folder):
    total = 0
    for path in pathlib.Path(folder).rglob("*"):
        try:
            total += path.lstat().st_blocks * 512
        except OSError:
            continue
    return total
