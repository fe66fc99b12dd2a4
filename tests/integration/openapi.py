"""Checks requests against an official description: swagger 2.0 or OpenAPI 3, as YAML or JSON.

    description = openapi.load(path)
    for complaint in description.check("POST", "/v1.41/containers/create?name=a", {"content-type": …}, b"{…}"): …

Complaints are words: an unknown path, method, parameter or property, a missing one, a wrong type, a value that is not
in the list of the allowed ones. It is stricter than JSON schema where a description means more than it says: what an
object does not list, and does not open with additionalProperties, is a mistake.

usage: openapi.py --self-test
"""

import json
import os
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("HODEI_TEST_DATA", ROOT.parent / "shared/data"))
DEEPEST = 60          # schemas may refer to themselves
METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}


def test_data(*parts):
    """A file of the official descriptions; None, and a word about it, where they are not on this machine."""
    path = DATA.joinpath(*parts)
    if path.exists():
        return path
    print(f"  skipped: requests are not checked against {'/'.join(parts)}: {path} is not there (HODEI_TEST_DATA)")
    return None


def load(path):
    text = pathlib.Path(path).read_text()
    if str(path).endswith(".json"):
        return Description(json.loads(text))
    import yaml   # pylint: disable=import-outside-toplevel  # python3-yaml, where a description is YAML
    return Description(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


class Description:
    def __init__(self, document):
        self.document = document
        self.base = document.get("basePath", "").rstrip("/")
        self.paths = []
        for template, item in document.get("paths", {}).items():
            parts = re.split(r"(\{[^}]*\})", template)
            pattern = "".join("[^/]+" if part.startswith("{") else re.escape(part) for part in parts)
            self.paths.append((template.count("{"), template, re.compile(pattern), item))
        self.paths.sort(key=lambda path: path[0])   # /containers/json before /containers/{id}

    # Requests.

    def check(self, method, target, headers=None, body=b""):
        """What is wrong with a request, in words; an empty list when nothing is."""
        path, _, query = target.partition("?")
        name = f"{method} {path}"
        if self.base and not path.startswith(self.base + "/"):
            return [f"{name}: does not begin with {self.base}"]
        template, item = self.find(path[len(self.base):])
        if item is None:
            return [f"{name}: there is no such path"]
        operation = item.get(method.lower()) if method.lower() in METHODS else None
        if operation is None:
            return [f"{name}: {template} has no method {method}"]
        parameters = [self.resolve(p) for p in item.get("parameters", []) + operation.get("parameters", [])]
        wrong = list(self.check_query(query, parameters))
        wrong += self.check_path(path[len(self.base):], template, parameters)
        wrong += self.check_body(operation, parameters, {k.lower(): v for k, v in (headers or {}).items()}, body)
        return [f"{name}: {what}" for what in wrong]

    def find(self, path):
        for _, template, pattern, item in self.paths:
            if pattern.fullmatch(path):
                return template, item
        return None, None

    def check_query(self, query, parameters):
        given = urllib.parse.parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))
        known = {p["name"]: p for p in parameters if p["in"] == "query"}
        for name, values in given.items():
            if name not in known:
                yield f"unknown query parameter '{name}'"
                continue
            for value in values:
                yield from self.check_word(value, known[name].get("schema", known[name]), f"query parameter '{name}'")
        for name, parameter in known.items():
            if parameter.get("required") and name not in given:
                yield f"query parameter '{name}' is missing"

    def check_path(self, path, template, parameters):
        names = re.findall(r"\{([^}]*)\}", template)
        values = re.fullmatch(re.sub(r"\\\{[^}]*\\\}", "([^/]+)", re.escape(template)), path).groups()
        known = {p["name"]: p for p in parameters if p["in"] == "path"}
        for name, value in zip(names, values):
            if name in known:
                word = urllib.parse.unquote(value)
                yield from self.check_word(word, known[name].get("schema", known[name]), f"path parameter '{name}'")

    def check_word(self, word, schema, where):
        """A parameter is text; it must read as what its schema says."""
        schema = self.resolve(schema)
        kind = schema.get("type", "string")
        value = word
        try:
            if kind == "integer":
                value = int(word)
            elif kind == "number":
                value = float(word)
            elif kind == "boolean":
                value = {"true": True, "false": False, "1": True, "0": False}[word.lower()]
            elif kind == "array":
                return
        except (ValueError, KeyError):
            yield f"{where}: '{word}' is no {kind}"
            return
        yield from self.check_value(value, schema, where)

    def check_body(self, operation, parameters, headers, body):
        in_body = [p for p in parameters if p["in"] == "body"]
        if "requestBody" in operation:                               # OpenAPI 3
            wanted = self.resolve(operation["requestBody"])
            required = wanted.get("required", False)
            content = wanted.get("content", {})
            media = headers.get("content-type", "application/json").split(";")[0].strip()
            found = content.get(media, content.get("*/*"))
            if body and found is None:
                return [f"Content-Type {media} is none of {', '.join(content)}"]
            schema = (found or {}).get("schema", {})
        elif in_body:                                                # swagger 2.0
            required, schema = in_body[0].get("required", False), in_body[0].get("schema", {})
            media = headers.get("content-type", "")
        else:
            return ["has a body, and may have none"] if body else []
        if not body:
            return ["has no body"] if required else []
        schema = self.resolve(schema)
        if schema.get("type") == "string" and "json" not in media:
            return []                                                # bytes
        if "json" not in media:
            return [f"Content-Type '{media}' is not JSON"]
        try:
            value = json.loads(body)
        except ValueError as error:
            return [f"the body is not JSON: {error}"]
        return list(self.check_value(value, schema, "body"))

    # Values.

    def resolve(self, schema):
        for _ in range(DEEPEST):
            if "$ref" not in schema:
                return schema
            node = self.document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                node = node[part.replace("~1", "/").replace("~0", "~")]
            schema = node
        raise ValueError(f"references without an end: {schema}")

    def flat(self, schema):
        """A schema with its allOf parts in it."""
        schema = self.resolve(schema)
        if "allOf" not in schema:
            return schema
        out = {k: v for k, v in schema.items() if k != "allOf"}
        out["properties"] = dict(schema.get("properties", {}))
        out["required"] = list(schema.get("required", []))
        for part in schema["allOf"]:
            part = self.flat(part)
            out["properties"].update(part.get("properties", {}))
            out["required"] += part.get("required", [])
            for key, value in part.items():
                out.setdefault(key, value)
        if not out["properties"]:
            del out["properties"]
        return out

    def check_value(self, value, schema, where, depth=0):
        if depth > DEEPEST:
            return
        schema = self.flat(schema)
        if value is None:
            if not (schema.get("nullable") or schema.get("x-nullable")):
                yield f"{where}: is null"
            return
        for word in ("oneOf", "anyOf"):
            if word in schema and all(list(self.check_value(value, s, where, depth + 1)) for s in schema[word]):
                yield f"{where}: fits none of the allowed forms"
        kind = schema.get("type") or ("object" if "properties" in schema else None)
        if schema.get("format") == "int-or-string" or schema.get("x-kubernetes-int-or-string"):
            kind = "string" if isinstance(value, str) else "integer"
        if kind and not is_a(kind, value):
            yield f"{where}: {shown(value)} is no {kind}"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield f"{where}: {shown(value)} is none of {', '.join(repr(e) for e in schema['enum'])}"
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if value < schema.get("minimum", value) or value > schema.get("maximum", value):
                yield f"{where}: {value} is outside of {schema.get('minimum')} to {schema.get('maximum')}"
        if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{where}: {shown(value)} does not match {schema['pattern']}"
        if isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                yield from self.check_value(item, schema["items"], f"{where}[{i}]", depth + 1)
        if isinstance(value, dict):
            yield from self.check_object(value, schema, where, depth)

    def check_object(self, value, schema, where, depth):
        properties = schema.get("properties", {})
        more = schema.get("additionalProperties", not properties)
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            more = True
        for name, item in value.items():
            if name in properties:
                yield from self.check_value(item, properties[name], f"{where}.{name}", depth + 1)
            elif isinstance(more, dict):
                yield from self.check_value(item, more, f"{where}.{name}", depth + 1)
            elif not more and not any(word in schema for word in ("oneOf", "anyOf")):
                yield f"{where}: unknown property '{name}'"
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: '{name}' is missing"


def is_a(kind, value):
    if isinstance(value, bool):
        return kind == "boolean"
    types = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
    return isinstance(value, types[kind])


def shown(value):
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "…"


# What it must find, and must not, in both forms of description.

PLANTED = {
    "swagger": "2.0", "basePath": "/v1",
    "definitions": {
        "Limits": {"type": "object", "properties": {"cpu": {"type": "integer", "minimum": 1}}},
        "Own": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "mode": {"type": "string", "enum": ["a", "b"]},
            "env": {"type": "array", "items": {"type": "string"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "limits": {"$ref": "#/definitions/Limits"}}},
        "Thing": {"allOf": [{"$ref": "#/definitions/Limits"}, {"$ref": "#/definitions/Own"}]}},
    "paths": {"/things/{id}": {"get": {"parameters": [{"name": "id", "in": "path", "type": "string"},
                                                      {"name": "all", "in": "query", "type": "boolean"}]},
                               "put": {"parameters": [
                                   {"name": "path", "in": "query", "type": "string", "required": True},
                                   {"name": "tar", "in": "body", "schema": {"type": "string"}}]}},
              "/things/create": {"post": {"parameters": [{"name": "body", "in": "body", "required": True,
                                                          "schema": {"$ref": "#/definitions/Thing"}}]}}},
}
PLANTED_3 = {
    "openapi": "3.0.0", "components": {"schemas": {"Pod": {"type": "object", "properties": {
        "port": {"type": "string", "format": "int-or-string"}, "kind": {"type": "string"}}}}},
    "paths": {"/pods": {"post": {"requestBody": {"content": {"application/json": {
        "schema": {"$ref": "#/components/schemas/Pod"}}}}, "parameters": [
            {"name": "dryRun", "in": "query", "schema": {"type": "string"}}]}}},
}
JSON = {"Content-Type": "application/json"}
CASES = [
    (PLANTED, ("GET", "/v1/things/a?all=true"), None),
    (PLANTED, ("GET", "/v1/things/a%2Fb"), None),
    (PLANTED, ("GET", "/v2/things/a"), "does not begin with /v1"),
    (PLANTED, ("GET", "/v1/thing/a"), "no such path"),
    (PLANTED, ("DELETE", "/v1/things/a"), "has no method DELETE"),
    (PLANTED, ("GET", "/v1/things/a?al=true"), "unknown query parameter 'al'"),
    (PLANTED, ("GET", "/v1/things/a?all=perhaps"), "'perhaps' is no boolean"),
    (PLANTED, ("GET", "/v1/things/a", JSON, b"{}"), "may have none"),
    (PLANTED, ("PUT", "/v1/things/a?path=x", {"Content-Type": "application/x-tar"}, b"\0"), None),
    (PLANTED, ("PUT", "/v1/things/a", {}, b"\0"), "'path' is missing"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","cpu":2,"mode":"a","labels":{"q":"r"}}'), None),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","env":["e"],"limits":{"cpu":1}}'), None),
    (PLANTED, ("POST", "/v1/things/create", JSON, b""), "has no body"),
    (PLANTED, ("POST", "/v1/things/create", {}, b"{}"), "is not JSON"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b"{"), "the body is not JSON"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"cpu":2}'), "'name' is missing"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","Cpu":2}'), "unknown property 'Cpu'"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","limits":{"memory":2}}'), "limits: unknown property"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":7}'), "7 is no string"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","cpu":true}'), "true is no integer"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","cpu":0}'), "0 is outside"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","mode":"c"}'), "is none of 'a', 'b'"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","env":[1]}'), "body.env[0]: 1 is no string"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":"x","labels":{"q":1}}'), "body.labels.q: 1 is no string"),
    (PLANTED, ("POST", "/v1/things/create", JSON, b'{"name":null}'), "is null"),
    (PLANTED_3, ("POST", "/pods?dryRun=All", JSON, b'{"port":80,"kind":"Pod"}'), None),
    (PLANTED_3, ("POST", "/pods", JSON, b'{"port":"http"}'), None),
    (PLANTED_3, ("POST", "/pods", JSON, b'{"kind":1}'), "1 is no string"),
    (PLANTED_3, ("POST", "/pods", JSON, b'{"knd":"Pod"}'), "unknown property 'knd'"),
    (PLANTED_3, ("POST", "/pods", {"Content-Type": "text/plain"}, b"x"), "is none of application/json"),
]


def self_test():
    wrong = 0
    for document, request, expected in CASES:
        found = Description(document).check(*request)
        good = found == [] if expected is None else len(found) == 1 and expected in found[0]
        if not good:
            wrong += 1
            print(f"{request}: expected {expected or 'nothing'}, found {found or 'nothing'}")
    print(f"{wrong} wrong" if wrong else f"{len(CASES)} planted requests judged rightly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else print(__doc__) or 2)
