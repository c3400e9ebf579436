"""One connection to a redis-server on a Unix socket, for several threads, and what its bytes say. Words and
answers are latin-1 text, one character a byte; besides numbers, None, lists and, from RESP3, maps."""
import socket
import threading


class ServerError(OSError):
    """The server's answer was an error."""


def packed(words):
    """A request's bytes."""
    out = [b"*%d\r\n" % len(words)]
    for word in words:
        data = str(word).encode("latin-1")
        out.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(out)


def words_of(frame):
    """The words of a request: an array of bulk strings."""
    words, pos = [], frame.index(b"\r\n") + 2
    while pos < len(frame):
        line_end = frame.index(b"\r\n", pos)
        pos = line_end + 2 + int(frame[pos + 1:line_end]) + 2
        words.append(frame[line_end + 2:pos - 2].decode("latin-1"))
    return words


class Connection:
    def __init__(self, path, limit_s=30):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(limit_s)
        self.sock.connect(path)
        self.file, self.lock, self.messages = self.sock.makefile("rb"), threading.Lock(), []

    def close(self):
        self.file.close()
        self.sock.close()

    def send(self, *words):
        self.sock.sendall(packed(words))

    def receive(self):
        """One answer. What was published, (channel, text), is put aside where RESP3 tells it from answers."""
        while True:
            line = self.file.readline()
            if not line.endswith(b"\n"):
                raise ConnectionError("the server closed the connection")
            sign, rest = line[:1], line[1:-2]
            if sign in b"$=":
                return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2].decode("latin-1")
            if sign == b":":
                return int(rest)
            if sign == b"*":
                return None if rest == b"-1" else [self.receive() for _ in range(int(rest))]
            if sign == b"%":
                return {self.receive(): self.receive() for _ in range(int(rest))}
            if sign == b"-":
                raise ServerError(rest.decode("latin-1"))
            if sign == b"_":
                return None
            if sign != b">":
                return rest.decode("latin-1")
            words = [self.receive() for _ in range(int(rest))]
            if words[0] == "message":
                self.messages.append((words[1], words[2]))

    def call(self, *words):
        with self.lock:
            self.send(*words)
            return self.receive()

    __call__ = call
