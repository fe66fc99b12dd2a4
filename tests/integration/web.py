"""A web server for artifacts, with http or https, that misbehaves when it is told to; and a CA for it."""

import contextlib
import http.server
import ssl
import subprocess
import threading


class Files(http.server.BaseHTTPRequestHandler):
    """Serves what the test gave it, with ranges; takes what is PUT; breaks off, fails or stays silent when told to."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        state = self.server.state
        state["asked"].append((self.path, self.headers.get("Range")))
        if self.path in state["silent"]:
            state["release"].wait(120)
            self.close_connection = True
            return
        if state["failures"].get(self.path, 0) > 0:
            state["failures"][self.path] -= 1
            return self.answer(503, b"come back later")
        content = state["files"].get(self.path)
        if content is None:
            return self.answer(404, b"no such file")
        first = 0
        if self.headers.get("Range") and self.headers.get("If-Range") == '"v1"':
            first = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if first else 200)
        self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(len(content) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        end = len(content)
        if self.path in state["broken"]:
            state["broken"].remove(self.path)
            end = len(content) // 2
            self.close_connection = True
        self.wfile.write(content[first:end])

    def do_PUT(self):
        state = self.server.state
        if self.path in state["silent"]:
            state["asked"].append((self.path, "PUT"))
            state["release"].wait(120)
            self.close_connection = True
            return
        state["put"][self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def files(certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.daemon_threads = True
    server.state = {"files": {}, "broken": set(), "failures": {}, "silent": set(), "asked": [], "put": {},
                    "release": threading.Event()}
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        server.state["url"] = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
        yield server.state
    finally:
        server.state["release"].set()
        server.shutdown()
        server.server_close()


def certificates(folder):
    """A CA of our own, and a certificate of it for 127.0.0.1."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=a test's own CA")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=127.0.0.1")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "cert.pem")
    return folder / "cert.pem", folder / "key.pem"
