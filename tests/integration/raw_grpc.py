"""gRPC over a bare socket, written by hand so that every byte can be wrong: HTTP/2 frames, headers, message prefixes."""

import re
import socket
import struct
import time

from harness import ROOT, check

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1

OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL = 0, 3, 8, 12, 13


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header(name, value):
    """A literal that enters no table, without Huffman coding."""
    assert len(name) < 127 and len(value) < 127
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def request_headers(path, **more):
    pairs = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "localhost",
             "content-type": "application/grpc", "te": "trailers", **{k.replace("_", "-"): v for k, v in more.items()}}
    return b"".join(header(name, value) for name, value in pairs.items())


def message(payload, compressed=0, length=None):
    """A message with its prefix; `length` may lie."""
    return struct.pack(">BI", compressed, len(payload) if length is None else length) + payload


def status_in(trailers):
    """gRPC's status in a block of headers; the server writes it without Huffman coding."""
    found = re.search(rb"grpc-status.([0-9]{1,2})", trailers, re.S)
    check(found, f"trailers without a status: {trailers!r}")
    return int(found.group(1))


class Connection:
    """One connection with its settings exchanged."""

    def __init__(self, port, patience=10):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.patience = patience
        self.stream = -1
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def open(self):
        self.send(PREFACE + frame(SETTINGS, 0, 0))
        return self

    def send(self, data):
        self.socket.sendall(data)

    def frames(self):
        """What the server sends, until it closes the connection."""
        while True:
            while len(self.left) < 9 or len(self.left) < 9 + int.from_bytes(self.left[:3], "big"):
                try:
                    more = self.socket.recv(65536)
                except ConnectionError:
                    return
                if not more:
                    return
                self.left += more
            size = int.from_bytes(self.left[:3], "big")
            kind, flags, stream = self.left[3], self.left[4], int.from_bytes(self.left[5:9], "big")
            payload, self.left = self.left[9:9 + size], self.left[9 + size:]
            if kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, ACK, 0))
            if kind == PING and not flags & ACK:
                self.send(frame(PING, ACK, 0, payload))
            yield kind, flags, stream, payload

    def call(self, path, body, **headers):
        """Sends one call and answers with its gRPC status; None: the server ended the stream or the connection."""
        self.stream += 2
        self.send(frame(HEADERS, END_HEADERS, self.stream, request_headers(path, **headers)))
        for at in range(0, len(body), 16384):
            self.send(frame(DATA, 0, self.stream, body[at:at + 16384]))
        self.send(frame(DATA, END_STREAM, self.stream))
        return self.status(self.stream)

    def status(self, wanted):
        deadline = time.monotonic() + 2 * self.patience
        for kind, flags, stream, payload in self.frames():
            if time.monotonic() > deadline:
                raise TimeoutError("a stream that goes on and on")
            if kind == GOAWAY or (kind == RST_STREAM and stream == wanted):
                return None
            if kind == HEADERS and stream == wanted and flags & END_STREAM:
                return status_in(payload)
        return None


def call(port, path, payload, **headers):
    with Connection(port).open() as connection:
        return connection.call(path, message(payload), **headers)


def methods():
    """Every method of every service: (path, name of its request), from the proto files. Streams of requests too."""
    found = []
    for file in sorted((ROOT / "proto/hodei/v1").glob("*.proto")):
        text = re.sub(r"//.*", "", file.read_text())
        for service, body in re.findall(r"service (\w+) \{(.*?)\n\}", text, re.S):
            for method, _, request in re.findall(r"rpc (\w+)\s*\((stream )?\s*(\w+)\)", body):
                found.append((f"/hodei.v1.{service}/{method}", request))
    check(len(found) > 25, f"the proto files name only {len(found)} methods")
    return found


def text_fields(request):
    """The numbers of a message's text fields, from the proto files."""
    for file in (ROOT / "proto/hodei/v1").glob("*.proto"):
        text = re.sub(r"//.*", "", file.read_text())
        body = re.search(rf"\nmessage {request} \{{(.*?)\n\}}|\nmessage {request} \{{\}}", text, re.S)
        if body:
            return [int(n) for n in re.findall(r"^  (?:optional |repeated )?string \w+ = (\d+);", body.group(1) or "", re.M)]
    raise AssertionError(f"no message {request}")


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    """A field with a length: text, bytes or a message."""
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(payload)) + payload
