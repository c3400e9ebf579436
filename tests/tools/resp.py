"""One connection to a redis-server on a Unix socket, for several threads."""
import socket
import threading


class Server:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(path)
        self.file, self.lock = self.sock.makefile("rb"), threading.Lock()

    def call(self, *words):
        parts = [f"*{len(words)}\r\n".encode()]
        for word in words:
            data = str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
        with self.lock:
            self.sock.sendall(b"".join(parts))
            return self.reply()

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2].decode("utf-8", "replace")
        if kind == b"-":
            raise OSError(rest)
        return int(rest) if kind == b":" else rest
