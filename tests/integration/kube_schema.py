"""Judges requests by the official description of the Kubernetes API (OpenAPI v3), where it is there.

`kubernetes/api__v1_openapi.json` under $HODEI_TEST_DATA (default: ../shared/data beside the repository) describes all
under /api/v1. What it says nothing about (SelfSubjectAccessReview) is described here, from the API's reference.
"""

import json
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("HODEI_TEST_DATA", ROOT.parent / "shared/data")) / "kubernetes"
FILE = FOLDER / "api__v1_openapi.json"

TEXT = {"type": "string"}
ACCESS_REVIEW = {
    "type": "object", "required": ["spec"], "properties": {
        "apiVersion": {"enum": ["authorization.k8s.io/v1"]}, "kind": {"enum": ["SelfSubjectAccessReview"]},
        "metadata": {"type": "object"},
        "spec": {"type": "object", "properties": {
            "resourceAttributes": {"type": "object", "properties": {
                name: TEXT for name in ("group", "name", "namespace", "resource", "subresource", "verb", "version")}}}}}}


def description():
    """The official description, or None where it is absent."""
    return json.loads(FILE.read_text()) if FILE.exists() else None


class Schema:
    def __init__(self, document):
        self.document = document
        self.paths = [(re.compile("^" + re.sub(r"\{\w+\}", "[^/]+", path) + "$"), path) for path in document["paths"]]

    def problems(self, method, path, query, body):
        """What is wrong with a request; an empty list when nothing is. `query`: pairs; `body`: what JSON gave, or None."""
        if path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
            return list(self.judge(body, ACCESS_REVIEW, "body"))
        if not path.startswith("/api/v1"):
            return []
        template = next((name for pattern, name in self.paths if pattern.match(path)), None)
        item = self.document["paths"].get(template, {})
        operation = item.get(method.lower())
        if not operation:
            return [f"{method} {path}: there is no such operation"]
        known = {p["name"]: p for p in [*item.get("parameters", []), *operation.get("parameters", [])] if p["in"] == "query"}
        found = []
        for name, value in query:
            found += self.judge_parameter(name, value, known)
        wanted = operation.get("requestBody")
        if body is not None and not wanted:
            found.append(f"{method} {path}: takes no body")
        if body is not None and wanted:
            content = next(iter(wanted["content"].values()))
            found += self.judge(body, content["schema"], "body")
        if wanted and wanted.get("required") and body is None:
            found.append(f"{method} {path}: the body is missing")
        return found

    def judge_parameter(self, name, value, known):
        if name not in known:
            return [f"query: there is no parameter {name}"]
        kind = known[name]["schema"].get("type")
        if kind == "boolean" and value not in ("true", "false"):
            return [f"query: {name}={value} is not true or false"]
        if kind == "integer" and not re.fullmatch(r"-?\d+", value):
            return [f"query: {name}={value} is no number"]
        return []

    def judge(self, value, schema, where):
        """Yields what is wrong with a value. Fields that the schema does not name are wrong too: a typing error."""
        if "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
            yield from self.judge(value, schema, where)
            return
        for part in schema.get("allOf", []):
            yield from self.judge(value, part, where)
        for choice in ("oneOf", "anyOf"):
            if choice in schema and all(any(True for _ in self.judge(value, one, where)) for one in schema[choice]):
                yield f"{where}: {value!r} fits none of its forms"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{where}: {value!r} is none of {schema['enum']}"
        yield from self.judge_kind(value, schema, where)

    def judge_kind(self, value, schema, where):
        kind = schema.get("type")
        kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
        if kind and (not isinstance(value, kinds[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
            yield f"{where}: {value!r} is no {kind}"
            return
        if kind == "array":
            for index, one in enumerate(value):
                yield from self.judge(one, schema.get("items", {}), f"{where}[{index}]")
        if kind != "object":
            return
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: {name} is missing"
        properties, more = schema.get("properties", {}), schema.get("additionalProperties")
        for name, one in value.items():
            if name in properties:
                yield from self.judge(one, properties[name], f"{where}.{name}")
            elif isinstance(more, dict):
                yield from self.judge(one, more, f"{where}.{name}")
            elif properties and not more:
                yield f"{where}: there is no field {name}"
