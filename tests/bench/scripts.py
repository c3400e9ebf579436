"""What a take and a give-back cost the server: rlock's two scripts beside Redisson's own two.

Hot and pipelined: many pairs, each of another client, over one connection, so that the server does
nothing but read requests, run scripts and answer. Both in turn, again and again; the medians.
"""
import statistics

import learn

BATCH = 50  # pairs that are under way at a time


def is_held(server, kind):
    if kind == "sem":
        return server.call("GET", learn.NAME) != learn.PERMITS
    return server.call("EXISTS", learn.NAME) == 1


def prepare(server, kind):
    server.call("FLUSHDB")
    if kind == "sem":
        server.call("SET", learn.NAME, learn.PERMITS)


def check(server, kind, pair):
    """What is measured does take the lock, and give it back."""
    prepare(server, kind)
    for request, held in zip(pair.another(), (True, False)):
        server.connection.sock.sendall(request)
        server.connection.receive()
        if is_held(server, kind) != held:
            raise RuntimeError(f"said once more it does not work: {pair.requests}")


def cost_us(server, kind, pair, count):
    """(the server's CPU time, the time in the scripts alone) of one pair."""
    batches = [b"".join(b"".join(pair.another()) for _ in range(BATCH)) for _ in range(count // BATCH)]
    prepare(server, kind)
    cpu, inside = server.cpu_us(), server.in_scripts_us()
    for batch in batches:
        server.connection.sock.sendall(batch)
        for _ in range(2 * BATCH):
            server.connection.receive()
    return (server.cpu_us() - cpu) / count, (server.in_scripts_us() - inside) / count


def measure(tools, server, kind, theirs, size):
    """Medians of cost_us() of ours and, unless that is None, of theirs: Redisson's Pair."""
    pairs = [learn.of_rlock(tools.rlock, server, kind), *([theirs] if theirs else [])]
    for pair in pairs:
        check(server, kind, pair)
    costs = [[cost_us(server, kind, pair, size.pairs) for pair in pairs] for _ in range(size.rounds)]
    return [[statistics.median(times) for times in zip(*own)] for own in zip(*costs)]
