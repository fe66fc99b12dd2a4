"""A subscriber to a job's output that reads as slowly as it likes: HTTP/2 by hand, because gRPC's own clients read ahead.

It answers pings, so that the server takes it for alive, and grants the bytes that it wants to read one by one.
"""

import socket
import struct
import time

from harness import check

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW_SIZE = 4
STREAM = 1
LARGE = (1 << 31) - (1 << 20)   # as much as a window may be opened beyond what it has


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """A protobuf message as (number, value) pairs."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            check(key & 7 == 2, f"a field of wire type {key & 7}")
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def text_field(number, text):
    data = text.encode()
    return bytes([number << 3 | 2, len(data)]) + data


def header(name, value):
    """HPACK: a literal that nobody remembers."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class Chunk:
    """A LogChunk, as far as it matters here."""

    def __init__(self, data):
        self.bytes, self.gap, self.gap_reason = 0, 0, ""
        for number, value in fields(data):
            if number == 1:
                self.bytes += entry_size(value)
            if number == 4:
                gap = dict(fields(value))
                self.gap, self.gap_reason = gap.get(1, 0), gap.get(2, b"").decode()


def entry_size(data):
    """Bytes of output that a LogEntry stands for."""
    entry = dict(fields(data))
    return len(entry.get(2, b"")) + (0 if entry.get(6) else 1)   # partial: there was no newline


class SlowReader:
    def __init__(self, port, job, receive_buffer=4096):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.incoming = bytearray()
        self.body = bytearray()
        self.closed = False
        request = text_field(1, job)
        headers = b"".join(header(*pair) for pair in (
            (":method", "POST"), (":scheme", "http"), (":path", "/hodei.v1.LogStreamService/SubscribeLogs"),
            (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers")))
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.send(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, 0))
        self.send(HEADERS, END_HEADERS, STREAM, headers)
        self.send(DATA, END_STREAM, STREAM, b"\0" + struct.pack(">I", len(request)) + request)

    def close(self):
        self.socket.close()

    def send(self, kind, flags, stream, payload):
        self.socket.sendall(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

    def grant(self, size):
        """The server may send so many bytes more."""
        self.send(WINDOW_UPDATE, 0, STREAM, struct.pack(">I", size))

    def grant_all(self):
        self.send(WINDOW_UPDATE, 0, 0, struct.pack(">I", LARGE))
        self.grant(LARGE)

    def read_for(self, seconds):
        """Takes what comes until then, or until the stream has ended."""
        deadline = time.monotonic() + seconds
        while not self.closed and (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 16)
            except TimeoutError:
                return
            except ConnectionError:
                data = b""
            self.closed = self.closed or not data
            self.incoming += data
            self.take_frames()

    def take_frames(self):
        while len(self.incoming) >= 9:
            size = int.from_bytes(self.incoming[:3], "big")
            if len(self.incoming) < 9 + size:
                return
            kind, flags, stream = self.incoming[3], self.incoming[4], int.from_bytes(self.incoming[5:9], "big")
            payload = bytes(self.incoming[9:9 + size])
            del self.incoming[:9 + size]
            self.on_frame(kind, flags, stream, payload)

    def on_frame(self, kind, flags, stream, payload):
        if kind == DATA:
            self.body += payload
        if kind == SETTINGS and not flags & ACK:
            self.send(SETTINGS, ACK, 0, b"")
        if kind == PING and not flags & ACK:
            self.send(PING, ACK, 0, payload)
        ended = kind in (DATA, HEADERS) and stream == STREAM and flags & END_STREAM
        self.closed = self.closed or bool(ended) or kind in (RST_STREAM, GOAWAY)

    def chunks(self):
        """The whole messages that have come; they are taken out."""
        out = []
        while len(self.body) >= 5 and len(self.body) >= 5 + (size := int.from_bytes(self.body[1:5], "big")):
            out.append(Chunk(bytes(self.body[5:5 + size])))
            del self.body[:5 + size]
        return out
