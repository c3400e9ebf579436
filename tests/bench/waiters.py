"""waiters.py RLOCK DIRECTORY WAITERS CHAIN: see waiters. DIRECTORY holds sock, the server's, and stamp."""

import os
import signal
import socket
import statistics
import subprocess
import sys
import time

RLOCK, DIRECTORY, WAITERS, CHAIN = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
NAME = 'x'
CHANNEL = 'redisson_lock__channel:{%s}' % NAME
IDLE_S = 15
# What clients send; what scripts do is counted by the server, too, under other names.
SENT = {'evalsha', 'eval', 'exists', 'subscribe', 'unsubscribe', 'auth', 'select', 'ping', 'hello'}


class Server:
    """Just enough of a client: no commands of its own besides those asked for."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(DIRECTORY + '/sock')
        self.file = self.socket.makefile('rb')

    def ask(self, *words):
        words = [str(word).encode() for word in words]
        self.socket.sendall(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(w), w) for w in words))
        return self.read()

    def read(self):
        line = self.file.readline().rstrip()
        if line[:1] == b'$':
            return self.file.read(int(line[1:]) + 2)[:-2].decode() if line != b'$-1' else None
        if line[:1] == b'*':
            return [self.read() for _ in range(int(line[1:]))]
        return int(line[1:]) if line[:1] == b':' else line.decode()

    def info(self, section):
        return dict(line.split(':', 1) for line in self.ask('INFO', section).splitlines() if ':' in line)

    def sent(self):
        calls = {}
        for key, value in self.info('commandstats').items():
            name = key[len('cmdstat_'):]
            if name in SENT:
                calls[name] = int(value.split(',')[0].split('=')[1])
        return calls

    def clients(self):
        return int(self.info('clients')['connected_clients'])

    def in_line(self):
        return self.ask('ZCARD', 'rlock_waiters:{%s}' % NAME)


def difference(after, before):
    return {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)}


def wait_for(what, condition, limit_s=120):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            sys.exit('waiters.py: not within %d s: %s' % (limit_s, what))
        time.sleep(0.005)


def start(log, fifo=None):
    command = [RLOCK, 'run', '-q', '-n', NAME, '--', DIRECTORY + '/stamp', log] + ([fifo] if fifo else [])
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


def holder(server, log, fifo):
    """A run that holds the lock until its FIFO is opened."""
    os.mkfifo(fifo)
    process = start(log, fifo)
    wait_for('a holder', lambda: server.ask('EXISTS', NAME) == 1)
    return process


def let_go(fifo):
    os.close(os.open(fifo, os.O_WRONLY))


def stamps(log):
    """(began, ended) of each command, in ns, in their order."""
    with open(log) as file:
        return sorted(tuple(int(number) for number in line.split()) for line in file)


def hand_offs(log):
    """From the end of a command to the beginning of the next, in ms."""
    lines = stamps(log)
    return [(after[0] - before[1]) / 1e6 for before, after in zip(lines, lines[1:])]


def private_kib(pid):
    with open('/proc/%d/smaps_rollup' % pid) as file:
        return sum(int(line.split()[1]) for line in file if line.startswith('Private_'))


def chain(server):
    """One waiter at a time: each holds the lock until the next one waits for it."""
    log, processes, sent = DIRECTORY + '/chain.log', [], []
    for i in range(CHAIN + 1):
        fifo = '%s/fifo-%d' % (DIRECTORY, i)
        os.mkfifo(fifo)
        processes.append(start(log, fifo))
        if i == 0:
            wait_for('the first holder', lambda: server.ask('EXISTS', NAME) == 1)
            continue
        wait_for('a waiter', lambda: server.in_line() == 1)
        time.sleep(0.02)  # asleep, and the one before it gone
        before = server.sent()
        let_go('%s/fifo-%d' % (DIRECTORY, i - 1))
        processes[i - 1].wait()
        wait_for('a hand-off', lambda: server.in_line() == 0)
        sent.append(difference(server.sent(), before).get('evalsha', 0))
    let_go('%s/fifo-%d' % (DIRECTORY, CHAIN))
    processes[-1].wait()
    return hand_offs(log), statistics.mean(sent)


def crowd(server):
    log, fifo = DIRECTORY + '/crowd.log', DIRECTORY + '/fifo'
    first = holder(server, log, fifo)
    alone = server.clients()
    began = time.monotonic()
    processes = [start(log) for _ in range(WAITERS)]
    wait_for('all to wait', lambda: server.in_line() == WAITERS)
    print('%d waiters: in line after %.1f s' % (WAITERS, time.monotonic() - began))
    time.sleep(2)
    memory = [private_kib(process.pid) for process in processes]
    print('private memory of a waiter: median %d KiB, most %d KiB' % (statistics.median(memory), max(memory)))
    print('connections of a waiter: %.3f' % ((server.clients() - alone) / WAITERS))
    before, since = server.sent(), time.monotonic()
    time.sleep(IDLE_S)
    sent = difference(server.sent(), before)
    rate = sum(sent.values()) / WAITERS / (time.monotonic() - since) * 5
    print('commands of a waiter in 5 s: %.2f (%s)' % (rate, sent))

    before, cpu = server.sent(), float(server.info('cpu')['used_cpu_user'])
    let_go(fifo)
    wait_for('all to be done', lambda: all(p.poll() is not None for p in [first] + processes), 600)
    failed = sum(p.returncode != 0 for p in processes)
    sent = difference(server.sent(), before)
    cpu = float(server.info('cpu')['used_cpu_user']) - cpu
    print('scripts a hand-off: %.2f (%s; with one waiter 1 release and 1 acquire)'
          % ((sent.get('evalsha', 0) + sent.get('eval', 0)) / WAITERS, sent))
    print('server time a hand-off: %.3f ms; failed: %d' % (cpu * 1000 / WAITERS, failed))
    return hand_offs(log)


def describe(label, times):
    times = sorted(times)
    print('%s: %d hand-offs, median %.2f ms, mean %.2f ms, 99 %% %.2f ms, most %.1f ms' % (
        label, len(times), statistics.median(times), statistics.mean(times), times[int(len(times) * 0.99)], times[-1]))


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    server = Server()
    one, requests = chain(server)
    describe('one waiter at a time, from a command\'s end to the next one\'s begin', one)
    print('requests a hand-off with one waiter: %.2f' % requests)
    many = crowd(server)
    describe('%d waiters, the same' % WAITERS, many)
    print('ratio of medians %.2f, of means %.2f' % (
        statistics.median(many) / statistics.median(one), statistics.mean(many) / statistics.mean(one)))
    left = [key for key in server.ask('KEYS', '*') if not key.startswith('redisson_lock_token:')]
    print('keys left behind: %s' % (left or 'none'))


main()
