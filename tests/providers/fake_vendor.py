#!/usr/bin/env python3
"""Stands in for aws, az and gcloud, by the name it is called: things in a folder, and every call written down.

FAKE_VENDOR is the folder: `calls` gets one JSON line per call, with the words of its command line and what was in the
files that they name; `things` is what has been made. A file `refuse` makes the next creation fail with its text.
"""

import json
import os
import pathlib
import stat
import sys

HOME = pathlib.Path(os.environ["FAKE_VENDOR"])
WORDS = sys.argv[1:]
LINE = " ".join(WORDS)


def after(flag, default=None):
    return WORDS[WORDS.index(flag) + 1] if flag in WORDS else default


def all_after(flag):
    found = []
    for word in WORDS[WORDS.index(flag) + 1:] if flag in WORDS else []:
        if word.startswith("--"):
            break
        found.append(word)
    return found


def read_files():
    found = {}
    for word in WORDS:
        path = pathlib.Path(word.removeprefix("file://"))
        if path.is_absolute() and path.is_file():
            found[word] = {"text": path.read_text(), "mode": stat.S_IMODE(path.stat().st_mode)}
    return found


def load():
    path = HOME / "things"
    return json.loads(path.read_text()) if path.exists() else {}


def save(things):
    (HOME / "things").write_text(json.dumps(things))


def fail(text):
    sys.stderr.write(text + "\n")
    sys.exit(254)


def may_refuse():
    refuse = HOME / "refuse"
    if refuse.exists():
        fail(refuse.read_text())


def filtered(things, filters):
    """Things that carry all tags of ["Name=tag:k,Values=v"] or ["Key=k,Values=v"]."""
    wanted = {}
    for words in filters:
        key, value = words.split(",Values=", 1)
        wanted[key.removeprefix("Name=tag:").removeprefix("Key=")] = value
    return [t for t in things.values() if wanted.items() <= t["tags"].items()]


def aws():
    things = load()
    if "ec2 run-instances" in LINE:
        may_refuse()
        token = after("--client-token")
        tags = {t["Key"]: t["Value"] for t in json.loads(after("--tag-specifications"))[0]["Tags"]}
        thing = things.setdefault(token, {"id": f"i-{len(things) + 1}", "tags": tags, "state": "pending"})
        save(things)
        return {"Instances": [{"InstanceId": thing["id"]}]}
    if "ec2 describe-instances" in LINE:
        found = filtered(things, all_after("--filters"))
        answer = [{"InstanceId": t["id"], "State": {"Name": t["state"]},
                   "Tags": [{"Key": k, "Value": v} for k, v in t["tags"].items()]} for t in found]
        for t in found:
            t["state"] = "running" if t["state"] == "pending" else t["state"]
        save(things)
        return {"Reservations": [{"Instances": answer}]}
    if "ec2 terminate-instances" in LINE:
        for t in things.values():
            if t["id"] in all_after("--instance-ids"):
                t["state"] = "shutting-down"
        save(things)
        return {}
    if "ec2 get-console-output" in LINE:
        return {"Output": "booting\nup\n"}
    name = after("--function-name")
    if "lambda create-function" in LINE:
        may_refuse()
        order = json.loads(pathlib.Path(after("--cli-input-json").removeprefix("file://")).read_text())
        if order["FunctionName"] in things:
            fail("An error occurred (ResourceConflictException): Function already exist")
        things[order["FunctionName"]] = {"tags": order["Tags"], "state": "Active"}
        save(things)
        return {}
    if "lambda get-function-configuration" in LINE or "lambda delete-function" in LINE:
        if name not in things:
            fail("An error occurred (ResourceNotFoundException): Function not found")
        if "delete" in LINE:
            del things[name]
            save(things)
            return {}
        return {"FunctionName": name, "State": things[name]["state"]}
    if "get-resources" in LINE:
        found = filtered({n: {**t, "name": n} for n, t in things.items()}, all_after("--tag-filters"))
        return {"ResourceTagMappingList": [{"ResourceARN": "arn:aws:lambda:r:1:function:" + t["name"],
                                            "Tags": [{"Key": k, "Value": v} for k, v in t["tags"].items()]} for t in found]}
    if "logs filter-log-events" in LINE:
        return {"events": [{"message": "up\n"}]}
    return {}


def az():
    things = load()
    if "vm create" in LINE:
        may_refuse()
        tags = dict(word.split("=", 1) for word in all_after("--tags"))
        things[after("--name")] = {"name": after("--name"), "tags": tags, "powerState": "VM running", "provisioningState": "Succeeded"}
        return save(things)
    if "vm list" in LINE:
        return list(things.values())
    if "vm delete" in LINE:
        if after("--name") not in things:
            fail("(ResourceNotFound) The Resource was not found")
        things[after("--name")]["provisioningState"] = "Deleting"
        return save(things)
    if "get-boot-log" in LINE:
        return "up"
    return {}


def gcloud():
    things = load()
    if "run jobs replace" in LINE:
        may_refuse()
        job = json.loads(pathlib.Path(WORDS[WORDS.index("replace") + 1]).read_text())
        things[job["metadata"]["name"]] = job
        save(things)
        return job
    if "run jobs execute" in LINE:
        things[WORDS[WORDS.index("execute") + 1]]["status"] = {"latestCreatedExecution": {"name": "x"}}
        return save(things)
    if "run jobs list" in LINE:
        return list(things.values())
    if "run jobs delete" in LINE:
        name = WORDS[WORDS.index("delete") + 1]
        if name not in things:
            fail("ERROR: Job [x] could not be found.")
        del things[name]
        return save(things)
    if "logging read" in LINE:
        return [{"textPayload": "up"}]
    return {}


TOOLS = {"aws": aws, "az": az, "gcloud": gcloud}
with open(HOME / "calls", "a", encoding="utf-8") as calls:
    calls.write(json.dumps({"tool": pathlib.Path(sys.argv[0]).name, "words": WORDS, "files": read_files()}) + "\n")
said = TOOLS[pathlib.Path(sys.argv[0]).name]()
if said is not None:
    print(json.dumps(said))
