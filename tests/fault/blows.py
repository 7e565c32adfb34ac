# SPDX-License-Identifier: MIT
"""What test_chaos.py does to runs: plans by seed, cables that can be cut, disks that fill."""
import contextlib
import ctypes
import dataclasses
import errno
import os
import pathlib
import resource
import selectors
import socket
import subprocess
import threading


@dataclasses.dataclass(frozen=True)
class Blow:
    """One of a plan: after so many seconds, to one of those that are there, for so long if it can be undone."""

    after: float
    kind: str
    whom: float  # 0 to 1
    for_: float

    def choose(self, those):
        those = list(those)
        return those[int(self.whom * len(those))] if those else None

    def __str__(self):
        return f"{self.after:.2f} s: {self.kind} {self.whom:.2f} for {self.for_:.2f} s"


def plan(numbers, kinds, most, rate=5.0):
    """Blows at random: what follows depends on nothing that happens."""
    return [Blow(numbers.expovariate(rate), numbers.choice(kinds), numbers.random(), numbers.choice((0.1, 0.5, 2.0, 5.0)))
            for _ in range(numbers.randrange(1, most + 1))]


class Cables:
    """Between a node at 127.0.0.1 and everything else, which knows it by another address: each of its ports is forwarded, and all
    connections can be cut, or held without a word."""

    HOST = "127.0.0.77"

    def __init__(self, ports):
        self.state = "whole"
        self.pairs = {}
        self.selector = selectors.DefaultSelector()
        self.wake, self.woken = socket.socketpair()
        self.selector.register(self.woken, selectors.EVENT_READ, None)
        self.servers = {}
        for port in ports:
            server = socket.create_server((self.HOST, port), backlog=64)
            server.setblocking(False)
            self.servers[server] = port
            self.selector.register(server, selectors.EVENT_READ, None)
        self.ended = False
        self.thread = threading.Thread(target=self._forward, daemon=True)
        self.thread.start()

    @classmethod
    def free_ports(cls, count, numbers):
        """Neighbours that are free on both sides."""
        while True:
            first = numbers.randrange(15000, 31000)
            probes = []
            try:
                for port in range(first, first + count):
                    probes += [socket.create_server((host, port)) for host in ("127.0.0.1", cls.HOST)]
                return list(range(first, first + count))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            finally:
                for probe in probes:
                    probe.close()

    def set(self, state):
        """ "whole", "cut": all connections end, and none begins; or "held": bytes wait."""
        self.state = state
        self.wake.send(b"x")

    def end(self):
        self.ended = True
        self.wake.send(b"x")
        self.thread.join()
        for end in [*self.servers, *self.pairs, self.wake, self.woken]:
            end.close()
        self.selector.close()

    # ---- in the thread

    def _accept(self, server):
        try:
            near, _ = server.accept()
        except OSError:
            return
        if self.state == "cut":
            near.close()
            return
        try:
            far = socket.create_connection(("127.0.0.1", self.servers[server]))
        except OSError:  # nothing listens there
            near.close()
            return
        for end, other in ((near, far), (far, near)):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.pairs[end] = other
            self.selector.register(end, selectors.EVENT_READ, end)

    def _drop(self, end):
        for each in (end, self.pairs.pop(end, None)):
            if each is not None:
                self.pairs.pop(each, None)
                self.selector.unregister(each)
                each.close()

    def _carry(self, end):
        try:
            data = end.recv(1 << 16)
            if data:
                self.pairs[end].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(end)

    def _forward(self):
        held = False
        while not self.ended:
            if held:
                self.woken.recv(100)
            for key, _ in [] if held else self.selector.select():
                if key.fileobj is self.woken:
                    self.woken.recv(100)
                elif key.data is None:
                    self._accept(key.fileobj)
                elif key.fileobj in self.pairs:
                    self._carry(key.fileobj)
            held = self.state == "held"
            while self.state == "cut" and self.pairs:
                self._drop(next(iter(self.pairs)))


class Disk:
    """A folder on a disk of its own, in memory, which the rest of the machine does not see; it can be filled. Needs root."""

    SIZE = 24 << 20

    def __init__(self, folder):
        self.folder, self.filler = folder, folder / "filler"
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.SIZE}", "tmpfs", str(folder)], check=True)

    @staticmethod
    def can_be_made():
        """As a side effect mounts of this process are its own from here on."""
        if os.geteuid() != 0 or ctypes.CDLL(None, use_errno=True).unshare(0x00020000) != 0:  # CLONE_NEWNS
            return False
        return subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, check=False).returncode == 0

    def fill(self, but):
        """All but so many bytes."""
        space = os.statvfs(self.folder)
        with open(self.filler, "wb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, max(space.f_bavail * space.f_frsize - but, 1))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def empty(self):
        self.filler.unlink(missing_ok=True)

    def end(self):
        subprocess.run(["umount", "-l", str(self.folder)], check=False)


class Limit:
    """In place of a disk that is full, where nobody is root: files of the run's processes cannot grow beyond so many bytes."""

    def __init__(self, folder):
        self.folder, self.pids = folder, ()

    def fill(self, but):
        sizes = [path.stat().st_size for path in pathlib.Path(self.folder).glob("result.*")]
        self._set(max(sizes, default=0) + but % 4096)

    def empty(self):
        self._set(resource.RLIM_INFINITY)

    def _set(self, limit):
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard if limit == resource.RLIM_INFINITY else limit, hard))

    def end(self):
        pass
