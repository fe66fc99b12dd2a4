"""Judges requests to Kubernetes by the official description of its API, where it is there.

`kubernetes/api__v1_openapi.json` describes all under /api/v1. It says nothing about SelfSubjectAccessReview, which is
described here, from the reference of the API.
"""

import re

import openapi

FILE = ("kubernetes", "api__v1_openapi.json")
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

TEXT = {"type": "string"}
ATTRIBUTES = {"type": "object", "properties": {
    name: TEXT for name in ("group", "name", "namespace", "resource", "subresource", "verb", "version")}}
REVIEW = {
    "type": "object", "required": ["spec"], "properties": {
        "apiVersion": {"type": "string", "enum": ["authorization.k8s.io/v1"]},
        "kind": {"type": "string", "enum": ["SelfSubjectAccessReview"]},
        "spec": {"type": "object", "properties": {"resourceAttributes": ATTRIBUTES}}}}
REVIEW_API = {"openapi": "3.0.0", "paths": {REVIEWS: {"post": {
    "requestBody": {"required": True, "content": {"application/json": {"schema": REVIEW}}}}}}}


class Judge:
    def __init__(self):
        path = openapi.test_data(*FILE)
        self.core = openapi.load(path) if path else None
        self.reviews = openapi.Description(REVIEW_API)

    def complaints(self, method, target, headers, body):
        """What is wrong with a request, in words; an empty list when nothing is."""
        if target.startswith("/apis/authorization.k8s.io/"):
            return self.reviews.check(method, target, headers, body)
        if target.startswith("/api/v1/") and self.core:
            # kubectl writes a time that is not set as null, which a server takes as absent.
            return self.core.check(method, target, headers, re.sub(rb',"creationTimestamp":null|"creationTimestamp":null,', b"", body))
        return []
