"""Firecracker's API description, and whether a request keeps to it.

The file is firecracker/firecracker.yaml under $HODEI_TEST_DATA (default ../shared/data). It is read here with a reader of
just as much YAML as it uses, so that the tests need no library.
"""

import ctypes
import os
import pathlib
import re

ROOT = pathlib.Path(os.path.realpath(__file__)).parents[2]
DATA = pathlib.Path(os.environ.get("FAKE_FC_DATA") or os.environ.get("HODEI_TEST_DATA", ROOT.parent / "shared/data"))
DESCRIPTION = DATA / "firecracker/firecracker.yaml"
TYPES = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list, "number": (int, float)}


def libc():
    return ctypes.CDLL(None, use_errno=True)


def scalar(text):
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [scalar(part) for part in text[1:-1].split(",")]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)


def significant(text):
    """(indent, content) of the lines that say something."""
    for line in text.splitlines():
        content = line.strip()
        if content and not content.startswith("#"):
            yield len(line) - len(line.lstrip()), content


KEY = re.compile(r"^(\"[^\"]*\"|'[^']*'|[^\s:][^:]*):(?:\s+(.*))?$")


def block(lines, at, indent):
    """The mapping, list or text that begins at line `at`, and the line after it."""
    if lines[at][1].startswith("- "):
        return block_list(lines, at, indent)
    if not KEY.match(lines[at][1]):
        words = []
        while at < len(lines) and lines[at][0] >= indent:
            words.append(lines[at][1])
            at += 1
        return " ".join(words), at
    out = {}
    while at < len(lines) and lines[at][0] == indent and not lines[at][1].startswith("- "):
        found = KEY.match(lines[at][1])
        key, value = scalar(found.group(1)), found.group(2)
        at += 1
        deeper = at < len(lines) and (lines[at][0] > indent or (lines[at][0] == indent and lines[at][1].startswith("- ")))
        if value is None and deeper:
            out[key], at = block(lines, at, lines[at][0])
            continue
        out[key] = scalar(value or "")
        while at < len(lines) and lines[at][0] > indent:   # the rest of a text
            at += 1
    return out, at


def block_list(lines, at, indent):
    out = []
    while at < len(lines) and lines[at][0] == indent and lines[at][1].startswith("- "):
        rest = lines[at][1][2:]
        if not KEY.match(rest):
            out.append(scalar(rest))
            at += 1
            continue
        lines[at] = (indent + 2, rest)
        item, at = block(lines, at, indent + 2)
        out.append(item)
    return out, at


def description():
    lines = list(significant(DESCRIPTION.read_text(encoding="utf-8")))
    return block(lines, 0, 0)[0]


API = description() if DESCRIPTION.exists() else None   # without it, requests are taken as they are


def resolve(schema):
    while "$ref" in schema:
        schema = API["definitions"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def mismatches(schema, value, where):
    schema = resolve(schema)
    kind = schema.get("type", "object")
    fits = isinstance(value, TYPES[kind]) and not (kind == "integer" and isinstance(value, bool))
    if not fits:
        yield f"{where} is {value!r}, expected {kind}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, expected one of {schema['enum']}"
    if kind == "integer" and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{where} is {value}, out of its limits"
    if kind != "object":
        return
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where}.{name} is missing"
    for name, inner in value.items():
        if name not in schema.get("properties", {}):
            yield f"{where}.{name} is not part of the API"
        else:
            yield from mismatches(schema["properties"][name], inner, f"{where}.{name}")


def problems(method, path, body):
    """All that is wrong with a request, as far as the description is there."""
    if API is None:
        return []
    for pattern, methods in API["paths"].items():
        if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", pattern), path) and method.lower() in methods:
            parameters = methods[method.lower()].get("parameters", [])
            schema = next((p["schema"] for p in parameters if p.get("in") == "body"), None)
            return list(mismatches(schema, body, "body")) if schema else []
    return [f"{method} {path} is not part of the API"]


if __name__ == "__main__":
    assert problems("PUT", "/actions", {"action_type": "InstanceStart"}) == []
    assert problems("PUT", "/actions", {"action_type": "Dance"})
    assert problems("PUT", "/machine-config", {"vcpu_count": 33, "mem_size_mib": 1})
    assert problems("PUT", "/machine-config", {"vcpu_count": 1})
    assert problems("PUT", "/boot-source", {"kernel_image_path": "/k", "initrd": "/i"})
    assert problems("PUT", "/nonsense", {})
    print("the API description is read and used")
