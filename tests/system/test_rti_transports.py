# SPDX-License-Identifier: MIT
"""`tutti rti` over TLS and WebSockets: who gets in, and that everything goes as over TCP."""
import pathlib
import socket
import ssl
import subprocess
import unittest

from command import PATIENCE, TUTTI
from fedpro import FOM, Federate, RtiTest, WebSocket, at, real, unreal


PROGRAMS = pathlib.Path(TUTTI).parent / "examples" / "programs"


class TransportTest(RtiTest):
    def certificate(self, name, *more):
        """NAME.pem and NAME.key in the test's folder, signed by itself."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{name}.key",
                        "-out", f"{name}.pem", *more], cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def tls_rti(self, *options, **more):
        pem, key = self.certificate("rti")
        return self.rti("--tls-cert", pem, "--tls-key", key, *options, **more), pem

    def plain(self, rti):
        host, _, port = rti.address.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=PATIENCE)

    def tls(self, rti, trust, own=None):
        context = ssl.create_default_context(cafile=str(trust))
        if own:
            context.load_cert_chain(*own)
        return context.wrap_socket(self.plain(rti), server_hostname="localhost")

    def play(self, rti, dial):
        """Two federates exchange values in time order; the first is cut off on its way."""
        pair = [Federate(self, rti.address, dial=dial) for _ in range(2)]
        for i, federate in enumerate(pair):
            federate.join("road", f"f{i}", fom=FOM)
            car, (federate.z,) = federate.publish("Car", "z")
            federate.subscribe("Car", "z")
            federate.body = federate.call("RegisterObjectInstance", objectClass=car)
        for federate in pair:
            federate.wait("discoverObjectInstance")
            federate.regulate(1)
            federate.constrain()
        for n in range(1, 30):
            if n % 7 == 0:
                pair[0].resume()
            for federate in pair:
                federate.call("UpdateAttributeValuesWithTime", objectInstance=federate.body, time=at(n), userSuppliedTag=bytes(n * 5000),
                              attributeValues=federate.values([(federate.z, real(n))]))
                federate.advance("TimeAdvanceRequest", n)
            for federate in pair:
                self.assertEqual(federate.granted(), n)
                seen = federate.wait("reflectAttributeValuesWithTime")
                self.assertEqual((unreal(seen.time.data), len(seen.userSuppliedTag)), (n, n * 5000))
        for federate in pair:
            federate.call("ResignFederationExecution", resignAction=4)
            federate.terminate()


class WebSockets(TransportTest):
    def test_a_federation(self):
        rti = self.rti()
        self.play(rti, lambda: WebSocket(self.plain(rti), rti.address))

    def test_beside_tcp(self):
        rti = self.rti()
        one = Federate(self, rti.address, dial=lambda: WebSocket(self.plain(rti), rti.address))
        two = self.federate(rti)
        one.join("road", "one", fom=FOM)
        two.join("road", "two")
        self.assertEqual(two.call("GetFederateName", federate=one.call("GetFederateHandle", federateName="two")), "two")

    def test_requests_that_are_none(self):
        rti = self.rti()
        for request in (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
                        b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n",
                        b"GET /" + b"a" * 100000):
            with self.plain(rti) as sock:
                try:
                    sock.sendall(request)
                    self.assertEqual(sock.recv(100), b"")
                except ConnectionError:
                    pass
        self.assertIn("asks for no WebSocket", rti.text())
        self.federate(rti).terminate()

    def test_frames_that_are_none(self):
        rti = self.rti()
        for frame in (b"\xff" * 100, b"\x82\x05hello", b"\x8f\x80\0\0\0\0", b"\x88\x80\0\0\0\0", b"\x89\x84\0\0\0\0ping" * 50):
            sock = WebSocket(self.plain(rti), rti.address)
            sock.sock.sendall(frame)
            sock.sock.shutdown(socket.SHUT_WR)
            try:
                while sock.sock.recv(1000):
                    pass
            except ConnectionError:
                pass
            sock.close()
        self.federate(rti).terminate()


class Tls(TransportTest):
    def test_a_federation(self):
        rti, pem = self.tls_rti()
        self.play(rti, lambda: self.tls(rti, pem))

    def test_websockets_in_tls(self):
        rti, pem = self.tls_rti()
        self.play(rti, lambda: WebSocket(self.tls(rti, pem), rti.address))

    def test_plain_connections_are_refused(self):
        rti, pem = self.tls_rti()
        with self.plain(rti) as sock:
            sock.sendall(bytes(100))
            try:
                while sock.recv(1000):
                    pass
            except ConnectionError:
                pass
        Federate(self, rti.address, dial=lambda: self.tls(rti, pem)).terminate()

    def test_certificates_of_federates(self):
        mine, other = self.certificate("mine"), self.certificate("other")
        rti, pem = self.tls_rti("--allow", mine[0])
        Federate(self, rti.address, dial=lambda: self.tls(rti, pem, mine)).terminate()
        for own in (None, other):
            with self.assertRaises((ssl.SSLError, ConnectionError)), self.tls(rti, pem, own) as sock:
                sock.sendall(bytes(28))
                if not sock.recv(1):
                    raise ConnectionError

    def test_beyond_loopback(self):
        pem, key = self.certificate("rti")
        secret = self.folder / "secret"
        secret.write_text("secret\n")
        secret.chmod(0o600)
        for options in ((), ("--key", secret), ("--tls-cert", pem, "--tls-key", key)):
            self.assertIn("needs --tls-cert and --tls-key, and --key or --allow",
                          self.tutti("rti", "--listen", "0.0.0.0:0", *map(str, options), status=2).err)
        rti = self.rti("--tls-cert", pem, "--tls-key", key, "--key", secret, listen="0.0.0.0:0")
        rti.address = "127.0.0.1:" + rti.address.rpartition(":")[2]
        Federate(self, rti.address, dial=lambda: self.tls(rti, pem), key="secret").terminate()

    def watch(self, rti, *arguments, status=1):
        """An example on <tutti/federate.h>, which ends by itself unless it gets in."""
        ended = subprocess.run([PROGRAMS / "federate_watch", "road", "Car", "z", rti.address, *map(str, arguments)], env=self.environment(),
                               cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(ended.returncode, status, ended.stderr)
        return ended.stderr

    def test_programs_and_status(self):
        """<tutti/federate.h> and `tutti rti status` speak TLS, show what they are asked for, and tell what is wrong."""
        own, other = self.certificate("own"), self.certificate("other")
        for name in ("own", "other"):
            (self.folder / f"{name}.both").write_text("".join((self.folder / f"{name}.{end}").read_text() for end in ("pem", "key")))
        secret = self.folder / "secret"
        secret.write_text("secret\n")
        secret.chmod(0o600)
        rti, pem = self.tls_rti("--allow", own[0], "--key", secret)
        inside = ("--tls-cert", str(pem), "--tls-key", "own.both", "--key", "secret")
        self.assertEqual(self.tutti("rti", "status", rti.address, *inside).out, "no federation\n")
        self.assertIn("FederationExecutionDoesNotExist", self.watch(rti, pem, "own.both", "secret"))
        self.assertIn("InvalidCredentials", self.watch(rti, pem, "own.both", "wrong"))
        self.assertIn("Unauthorized", self.watch(rti, pem, "own.both"))
        self.assertIn("Unauthorized", self.tutti("rti", "status", rti.address, *inside[:4], status=1).err)
        self.assertRegex(self.watch(rti, other[0], "own.both", "secret"), r"watch: 127\.0\.0\.1:\d+: TLS: .*certificate")
        self.assertRegex(self.tutti("rti", "status", rti.address, "--tls-cert", "other.pem", status=1).err, r"TLS: .*certificate")
        for words in (self.watch(rti, pem), self.watch(rti, pem, "other.both", "secret"),
                      self.tutti("rti", "status", rti.address, *inside[:2], status=1).err):
            self.assertRegex(words, r"127\.0\.0\.1:\d+")
        self.assertRegex(self.watch(rti), r"127\.0\.0\.1:\d+")  # plain, where TLS is wanted
        self.assertIn("none.pem", self.watch(rti, "none.pem"))
        plain = self.rti()
        self.assertRegex(self.watch(plain, pem), r"127\.0\.0\.1:\d+")
        Federate(self, plain.address).terminate()

    def test_a_program_in_tls(self):
        rti, pem = self.tls_rti()
        one = Federate(self, rti.address, dial=lambda: self.tls(rti, pem))
        one.join("road", "one", fom=FOM)
        car, (z,) = one.publish("Car", "z")
        watch = self.spawn([PROGRAMS / "federate_watch", "road", "Car", "z", rti.address, pem], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
        body = one.call("RegisterObjectInstance", objectClass=car)
        self.assertRegex(watch.stdout.readline(), "is there\n")
        one.call("UpdateAttributeValues", objectInstance=body, attributeValues=one.values([(z, real(1.5))]))
        one.call("DeleteObjectInstance", objectInstance=body)
        out, err = watch.communicate(timeout=PATIENCE)
        self.assertEqual((watch.returncode, err), (0, ""))
        self.assertTrue(out.endswith(".z 1.5\n"), out)

    def test_certificates_that_are_none(self):
        pem, key = self.certificate("rti")
        (self.folder / "none.pem").write_text("hello\n")
        self.assertIn("belong together", self.tutti("rti", "--tls-cert", str(pem), status=2).err)
        self.assertIn("belong together", self.tutti("rti", "--allow", str(pem), status=2).err)
        self.assertIn("none.pem: no certificate as PEM", self.tutti("rti", "--tls-cert", "none.pem", "--tls-key", str(key), status=2).err)
        self.assertIn("none.pem: no private key", self.tutti("rti", "--tls-cert", str(pem), "--tls-key", "none.pem", status=2).err)
        self.assertIn("none.pem: no certificates", self.tutti("rti", "--tls-cert", str(pem), "--tls-key", str(key), "--allow", "none.pem",
                                                              status=2).err)


if __name__ == "__main__":
    unittest.main()
