"""A proxy between a client and a server on unix sockets that keeps every request: one connection, one request, as our
HTTP client speaks. Answers stream through as they come."""

import contextlib
import pathlib
import socket
import threading

KEPT = 1 << 20        # of a body: more is passed on and not kept


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body

    def __repr__(self):
        return f"{self.method} {self.target}"


class Recorder:
    def __init__(self, socket_path, server_path):
        self.path, self.server = pathlib.Path(socket_path), pathlib.Path(server_path)
        self.requests = []
        self.open = set()
        self.listener = socket.socket(socket.AF_UNIX)
        self.threads = []
        self.ending = False

    def __enter__(self):
        self.listener.bind(str(self.path))
        self.listener.listen(64)
        self.threads.append(threading.Thread(target=self.accept, daemon=True))
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        self.ending = True
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for end in list(self.open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(timeout=10)
        self.path.unlink(missing_ok=True)

    def accept(self):
        while not self.ending:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.serve, args=(client,), daemon=True)
            thread.start()
            self.threads.append(thread)

    def serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        self.open |= {client, server}
        try:
            server.connect(str(self.server))
            # The client may hang up while the server is silent, as with a stream of events.
            watch = threading.Thread(target=self.pass_request, args=(client, server), daemon=True)
            watch.start()
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass
        finally:
            self.open -= {client, server}
            for end in (client, server):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()

    def pass_request(self, client, server):
        """Passes on what the client sends; what is kept is entered before the server can answer."""
        kept, request, expected = b"", None, 0
        try:
            while data := client.recv(65536):
                kept += data if len(kept) < KEPT else b""
                head, end, rest = kept.partition(b"\r\n\r\n")
                if end and request is None:
                    request, expected = self.begin(head)
                if request is not None:
                    request.body = rest[:expected]
                server.sendall(data)
        except OSError:
            pass
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def begin(self, head):
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        request = Request(method, target, headers, b"")
        self.requests.append(request)
        return request, int(headers.get("content-length", 0))
