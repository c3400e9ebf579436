#!/usr/bin/env python3
"""Writes down how the Nth of several Sentinels begins, for tests/lib/sentinel.bash and the campaign.

usage: sentinels.py N MASTER-PORT REPLICA-PORTS SENTINEL-PORTS   ports separated by spaces or lines

Each is told of the others and of the replicas, which they find out from each other's hellos only in seconds. The first
is the first to see that a master is gone, and needs nobody's agreement to ask for the votes (it does need the votes):
three that see it at once would vote for themselves, and try again many seconds later."""
import sys


def conf(number, master, replicas, sentinels):
    """Places are pairs of an address and a port."""
    host, port = sentinels[number - 1]
    yield f"port {port}"
    yield f"bind {host}"
    yield f"sentinel myid {number:040}"
    yield f"sentinel monitor m {master[0]} {master[1]} 1"
    yield f"sentinel down-after-milliseconds m {number}000"
    yield "sentinel failover-timeout m 2000"
    yield "sentinel parallel-syncs m 2"
    for host, port in replicas:
        yield f"sentinel known-replica m {host} {port}"
    for other, (host, port) in enumerate(sentinels, 1):
        if other != number:
            yield f"sentinel known-sentinel m {host} {port} {other:040}"


def main():
    number, *ports = sys.argv[1:]
    master, replicas, sentinels = ([("127.0.0.1", port) for port in each.split()] for each in ports)
    print(*conf(int(number), *master, replicas, sentinels), sep="\n")


if __name__ == "__main__":
    main()
