"""What passes through a proxy: RESP values, and a client's connection with its twin to the server."""
import asyncio


def frame_end(buf, pos=0):
    """The end of the RESP value that starts at pos, or -1 when it is not complete yet."""
    line_end = buf.find(b"\r\n", pos)
    if line_end < 0:
        return -1
    kind, rest, pos = buf[pos:pos + 1], buf[pos + 1:line_end], line_end + 2
    if kind in b"$=!":
        size = int(rest)
        end = pos if size < 0 else pos + size + 2
        return end if len(buf) >= end else -1
    if kind in b"*~>%|":
        count = max(0, int(rest)) * (2 if kind in b"%|" else 1)
        for _ in range(count):
            pos = frame_end(buf, pos)
            if pos < 0:
                return -1
        return frame_end(buf, pos) if kind == b"|" else pos
    return pos


async def frames(reader, piece_came=None):
    """Whole values, as they come. piece_came: awaited after each piece of a stream."""
    buf = b""
    while True:
        end = frame_end(buf) if buf else -1
        if end > 0:
            yield buf[:end]
            buf = buf[end:]
            continue
        piece = await reader.read(65536)
        if not piece:
            return
        if piece_came:
            await piece_came()
        buf += piece


class Link:
    """One client's connection and its twin to the server. Whoever inherits it has requests() and
    replies(), which pass them on until one of the two ends."""

    def __init__(self, client, client_writer, server, server_writer):
        self.client, self.client_writer = client, client_writer
        self.server, self.server_writer = server, server_writer

    async def run(self):
        tasks = [asyncio.ensure_future(self.requests()), asyncio.ensure_future(self.replies())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.abort()

    def abort(self):
        self.client_writer.transport.abort()
        self.server_writer.transport.abort()
