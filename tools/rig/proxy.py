"""A TCP proxy that counts what HTTP requests carry."""

import collections
import contextlib
import re
import socket
import sys
import threading
import time


class CountingProxy:
    """Passes TCP on to the server and counts what the requests carry, by method.

    A connection is opened to the server before anything is read from the client, so bytes that no
    server could take are never counted as sent.
    """

    def __init__(self, server_port):
        self.server_port = server_port
        self.bytes_per_second = None
        self.sent = collections.Counter()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.server_port))
        except OSError:
            client.close()
            return
        counter = BodyCounter(self.count)
        back = threading.Thread(target=self.copy, args=(server, client, lambda piece: None))
        back.daemon = True
        back.start()
        self.copy(client, server, counter.feed)
        back.join()
        client.close()
        server.close()

    def copy(self, source, target, seen):
        """Copies one direction to its end; a broken pair is shut down on both sides."""
        try:
            while piece := source.recv(256 * 1024):
                seen(piece)
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for side in (source, target):
                with contextlib.suppress(OSError):
                    side.shutdown(socket.SHUT_RDWR)

    def count(self, method, byte_count):
        with self.lock:
            self.sent[method] += byte_count
        if self.bytes_per_second and byte_count:
            time.sleep(byte_count / self.bytes_per_second)


class BodyCounter:
    """Reads the framing of HTTP/1.1 requests on one connection: heads are kept, bodies counted."""

    def __init__(self, count):
        self.count = count
        self.head = b""
        self.method = ""
        self.left = 0

    def feed(self, piece):
        while piece:
            if self.left:
                body, piece = piece[: self.left], piece[self.left :]
                self.left -= len(body)
                self.count(self.method, len(body))
                continue
            known = max(len(self.head) - 3, 0)
            self.head += piece
            end = self.head.find(b"\r\n\r\n", known)
            if end < 0:
                return
            head, piece, self.head = self.head[:end], self.head[end + 4 :], b""
            self.method = head.split(b" ", 1)[0].decode("latin-1")
            if re.search(rb"(?im)^transfer-encoding:", head):
                print("a chunked request cannot be counted; send a Content-Length", file=sys.stderr)
                raise OSError("chunked request")
            length = re.search(rb"(?im)^content-length:\s*(\d+)", head)
            self.left = int(length.group(1)) if length else 0
