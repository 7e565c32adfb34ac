# SPDX-License-Identifier: MIT
"""The least of ZeroMQ, by the library that Tutti itself uses: programs that have the right keys, and say what Tutti would not."""
import ctypes
import ctypes.util
import errno
import pathlib

DEALER, ROUTER = 5, 6
LINGER, RCVTIMEO, SNDTIMEO = 17, 27, 28
CURVE_SERVER, CURVE_PUBLICKEY, CURVE_SECRETKEY, CURVE_SERVERKEY = 47, 48, 49, 50
LAST_ENDPOINT = 32

zmq = ctypes.CDLL(ctypes.util.find_library("zmq") or "libzmq.so.5", use_errno=True)
for name in ("zmq_ctx_new", "zmq_socket", "zmq_z85_encode", "zmq_z85_decode"):
    getattr(zmq, name).restype = ctypes.c_void_p


def checked(result):
    if result < 0:
        raise EOFError(errno.errorcode.get(zmq.zmq_errno(), "?"))
    return result


def public_key(secret):
    """Of the secret one, both as 32 bytes."""
    text, found, public = (ctypes.create_string_buffer(41) for _ in range(3))
    zmq.zmq_z85_encode(text, secret, ctypes.c_size_t(32))
    checked(zmq.zmq_curve_public(found, text))
    zmq.zmq_z85_decode(public, found)
    return public.raw[:32]


def read_key(path):
    return bytes.fromhex(pathlib.Path(path).read_text("ascii"))


class Socket:
    """One that sends and receives messages of one part. `own` is a secret key; `beside` another socket, where there are many."""

    def __init__(self, kind, own, patience, beside=None):
        self.owns, self.context = not beside, beside.context if beside else zmq.zmq_ctx_new()
        self.socket = zmq.zmq_socket(ctypes.c_void_p(self.context), kind)
        for option, value in ((LINGER, 0), (RCVTIMEO, 1000 * patience), (SNDTIMEO, 1000 * patience)):
            self.set(option, value)
        self.set(CURVE_SECRETKEY, own)
        self.own = own

    def set(self, option, value):
        data = value if isinstance(value, bytes) else ctypes.c_int(value)
        size = len(value) if isinstance(value, bytes) else ctypes.sizeof(data)
        checked(zmq.zmq_setsockopt(ctypes.c_void_p(self.socket), option, data if isinstance(value, bytes) else ctypes.byref(data),
                                   ctypes.c_size_t(size)))

    def connect(self, address, server):
        """To "host:port", which has this public key."""
        self.set(CURVE_SERVERKEY, server)
        self.set(CURVE_PUBLICKEY, public_key(self.own))
        checked(zmq.zmq_connect(ctypes.c_void_p(self.socket), b"tcp://" + address.encode()))

    def bind(self):
        """At any port of this machine; its address. Every client that knows the public key is let in."""
        self.set(CURVE_SERVER, 1)
        checked(zmq.zmq_bind(ctypes.c_void_p(self.socket), b"tcp://127.0.0.1:*"))
        text, size = ctypes.create_string_buffer(256), ctypes.c_size_t(256)
        checked(zmq.zmq_getsockopt(ctypes.c_void_p(self.socket), LAST_ENDPOINT, text, ctypes.byref(size)))
        return text.value.decode().removeprefix("tcp://")

    def send(self, body, more=False):
        checked(zmq.zmq_send(ctypes.c_void_p(self.socket), body, ctypes.c_size_t(len(body)), 2 if more else 0))

    def receive(self):
        """EOFError if nothing comes in time."""
        buffer = ctypes.create_string_buffer(1 << 20)
        size = checked(zmq.zmq_recv(ctypes.c_void_p(self.socket), buffer, ctypes.c_size_t(len(buffer)), 0))
        return buffer.raw[:size]

    def close(self):
        if self.socket:
            zmq.zmq_close(ctypes.c_void_p(self.socket))
        if self.socket and self.owns:
            zmq.zmq_ctx_term(ctypes.c_void_p(self.context))
        self.socket = None
