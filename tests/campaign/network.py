"""Hosts: each with a network namespace of its own, on a bridge in ours, and what cuts one off.

Ours is the campaign's own as well (see `run`), so that no address and no port of this machine is
touched, and nothing is left of it. Where that may not be, all hosts are the loopback interface, and
nothing can be cut."""
import os
import subprocess

from machine import free_ports, wait_for

OWN = "CAMPAIGN_NETWORK" in os.environ
FAULTS = ("cut-off", "isolated")  # from everybody; from the other hosts, but not from clients
PORTS, GATEWAY = 2, 254           # of each host; its number in the network


def ip(lines, within=()):
    subprocess.run([*within, "ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


class Network:
    def __init__(self, count):
        self.me = os.getpid()  # several rounds may be played at a time, each by a process of its own
        self.base, self.bridge = f"10.{self.me >> 8 & 0xff}.{self.me & 0xff}", f"b{self.me}"
        if OWN:
            ip([f"link add {self.bridge} type bridge", f"addr add {self.base}.{GATEWAY}/24 dev {self.bridge}",
                f"link set {self.bridge} up"])
        self.hosts = [Host(self, number) if OWN else Loopback() for number in range(1, count + 1)]

    def close(self):
        if OWN:
            for host in self.hosts:
                host.close()
            ip([f"link del {self.bridge}"])


class Loopback:
    address, launcher = "127.0.0.1", ()

    def __init__(self):
        self.ports = free_ports(PORTS)


class Host:
    ports = range(6379, 6379 + PORTS)

    def __init__(self, network, number):
        self.network, self.address = network, f"{network.base}.{number}"
        self.holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "-n", "sleep", "infinity"])
        wait_for("a network namespace of its own", self.is_apart)
        self.launcher = ("nsenter", "-t", str(self.holder.pid), "-n")
        link = f"v{network.me}-{number}"
        ip([f"link add {link} type veth peer name eth0 netns {self.holder.pid}",
            f"link set {link} master {network.bridge} up"])
        ip([f"addr add {self.address}/24 dev eth0", "link set eth0 up", "link set lo up"], self.launcher)

    def is_apart(self):
        if self.holder.poll() is not None:
            raise OSError("no network namespace for a host")
        return os.readlink(f"/proc/{self.holder.pid}/ns/net") != os.readlink("/proc/self/ns/net")

    def close(self):
        self.holder.kill()
        self.holder.wait()

    def cut(self, fault):
        """Neither side is told: what is sent is lost, connections stay. A generator, as in servers.py."""
        others = [host.address for host in self.network.hosts if host is not self]
        if fault.name == "cut-off":
            others.append(f"{self.network.base}.{GATEWAY}")
        before = self.lost()
        ip([f"route add blackhole {address}" for address in others], self.launcher)
        yield
        fault.bites += self.lost() - before
        ip([f"route del blackhole {address}" for address in others], self.launcher)

    def lost(self):
        """Packets that had no way."""
        with open(f"/proc/{self.holder.pid}/net/snmp", encoding="ascii") as file:
            names, numbers = [line.split() for line in file if line.startswith("Ip:")]
        return int(dict(zip(names, numbers))["OutNoRoutes"])
