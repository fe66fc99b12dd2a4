"""A registry of images on loopback, as far as `docker pull` asks: one image, perhaps behind a password."""

import base64
import contextlib
import gzip
import hashlib
import http.server
import io
import json
import tarfile
import threading

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def packed(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def image(files, machine):
    """The blobs of an image with one layer, and its manifest."""
    layer = packed(files)
    small = gzip.compress(layer, mtime=0)
    config = json.dumps({"architecture": machine, "os": "linux", "config": {},
                         "rootfs": {"type": "layers", "diff_ids": [digest(layer)]}}).encode()
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": {
        "mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config), "digest": digest(config)},
        "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "size": len(small),
                    "digest": digest(small)}]}).encode()
    return {digest(config): config, digest(small): small}, manifest


def refusal(code, message):
    return json.dumps({"errors": [{"code": code, "message": message}]}).encode()


@contextlib.contextmanager
def registry(name, files, machine="amd64", user=None, password=None):
    """Answers with "127.0.0.1:PORT", which engines take for an insecure registry and speak plain http to."""
    blobs, manifest = image(files, machine)
    wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode() if user else None

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status, data=b"", **headers):
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def do_GET(self):   # pylint: disable=invalid-name  # the library's name
            if wanted and self.headers.get("Authorization") != wanted:
                return self.answer(401, refusal("UNAUTHORIZED", "authentication required"),
                                   WWW_Authenticate='Basic realm="test"', Content_Type="application/json")
            parts = self.path.split("/")
            if self.path in ("/v2/", "/v2"):
                return self.answer(200, b"{}", Docker_Distribution_Api_Version="registry/2.0")
            if self.path.startswith(f"/v2/{name}/manifests/") and parts[-1] in ("1", digest(manifest)):
                return self.answer(200, manifest, Content_Type=MANIFEST, Docker_Content_Digest=digest(manifest))
            if self.path.startswith(f"/v2/{name}/blobs/") and parts[-1] in blobs:
                return self.answer(200, blobs[parts[-1]], Content_Type="application/octet-stream")
            return self.answer(404, refusal("MANIFEST_UNKNOWN", "manifest unknown"), Content_Type="application/json")

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
