# SPDX-License-Identifier: MIT
"""Federates and the RTI when something breaks: cut connections, killed programs, slow ones, garbage, wrong keys."""
import json
import os
import random
import signal
import socket
import struct
import unittest

from command import PATIENCE, is_asleep, wait_until
from fedpro import (CALL, FOM, HEADER, NEW_SESSION, NONE, TERMINATE, TYPES, Ended, Federate, RtiTest, at, for_, pack, real, unreal)


class Cuts(RtiTest):
    def pair(self, rti):
        federates = [self.federate(rti), self.federate(rti)]
        for i, federate in enumerate(federates):
            federate.join("road", f"f{i}", fom=FOM)
            federate.car, (federate.z,) = federate.publish("Car", "z")
            federate.subscribe("Car", "z")
            federate.body = federate.call("RegisterObjectInstance", objectClass=federate.car)
        for federate in federates:
            federate.wait("discoverObjectInstance")
        return federates

    def test_nothing_is_lost_and_nothing_comes_twice(self):
        """A federate sends and receives in time order while its connection is cut at any place."""
        rti = self.rti()
        for federate in (pair := self.pair(rti)):
            federate.regulate(1)
            federate.constrain()
        one, two = pair
        chance = random.Random(1)
        steps, got = 60, {one: [], two: []}
        for n in range(1, steps + 1):
            calls, away = [], chance.random() < 0.3
            if away:
                one.cut()
            for federate in pair:
                calls.append((federate, [
                    federate.begin("UpdateAttributeValuesWithTime", objectInstance=federate.body, time=at(n),
                                   attributeValues=federate.values([(federate.z, real(n))])),
                    federate.begin("TimeAdvanceRequest", time=at(n))]))
            if away:
                one.resume()
            elif chance.random() < 0.7:
                for _ in range(chance.randrange(3)):  # some of what comes back arrives
                    one.take()
                if chance.random() < 0.5:
                    one.cut()
                one.resume()
            for federate, numbers in calls:
                for number in numbers:
                    federate.end(number)
                self.assertEqual(federate.granted(), n)
                got[federate].append(unreal(federate.wait("reflectAttributeValuesWithTime").time.data))
                self.assertEqual(federate.callbacks, [])
        for federate in pair:
            self.assertEqual(got[federate], list(range(1, steps + 1)))
            self.assertEqual(federate.responses, {})
        self.assertGreater(one.replays, 0)
        self.assertIn("f0 is back", rti.text())

    def test_a_connection_that_is_half_open(self):
        """The old connection stands while the federate comes back on another one: it is dropped."""
        one, two = self.pair(self.rti())
        old = one.sock
        one.sock = one.dial()
        one.sock, fresh = old, one.sock
        fresh.close()
        one.sock = socket.socket()  # so that resume closes this one, and not the old connection
        one.resume()
        self.assertEqual(old.recv(100), b"")
        one.call("UpdateAttributeValues", objectInstance=one.body, attributeValues=one.values([(one.z, b"1")]))
        two.wait("reflectAttributeValues")

    def test_callbacks_that_come_while_it_is_away(self):
        one, two = self.pair(self.rti())
        one.cut()
        for n in range(500):
            two.call("UpdateAttributeValues", objectInstance=two.body, attributeValues=two.values([(two.z, real(n))]))
        one.resume()
        for n in range(500):
            seen = one.wait("reflectAttributeValues")
            self.assertEqual(unreal(seen.attributeValues.attributeHandleValue[0].value), n)

    def test_who_stays_away_is_lost(self):
        rti = self.rti("--grace", 0.2)
        one, two = self.pair(rti)
        for federate in (one, two):
            federate.regulate(1)
            federate.constrain()
        one.call("SetAutomaticResignDirective", value=3)
        two.advance("TimeAdvanceRequest", 50)
        one.cut()
        self.assertEqual(two.granted(), 50)  # time goes on
        self.assertEqual(two.wait("removeObjectInstance").objectInstance, one.body)
        self.assertIn("f0 is gone: the connection is lost, and was not resumed within 0.2 s", rti.text())
        one.resume(expected=1)

    def live(self, rti, told):
        """A federate that sends something and then waits for its end."""
        one = Federate(self, rti.address)
        one.join("road", "one")
        car, _ = one.publish("Car", "z")
        honk = one.call("GetInteractionClassHandle", interactionClassName="Honk")
        one.call("PublishInteractionClass", interactionClass=honk)
        one.call("RegisterObjectInstance", objectClass=car)
        one.regulate(1)
        one.call("SetAutomaticResignDirective", value=3)
        one.call("SendInteractionWithTime", interactionClass=honk, time=at(7))
        os.write(told, b"1")
        signal.pause()

    def test_a_killed_federate(self):
        """kill -9: others are told, what it sent stands, time goes on."""
        rti = self.rti("--grace", 0.2)
        two = self.federate(rti)
        two.join("road", "two", fom=FOM)
        two.subscribe("Car", "z")
        two.call("SubscribeInteractionClass", interactionClass=two.call("GetInteractionClassHandle", interactionClassName="Honk"))
        lost = two.call("GetInteractionClassHandle", interactionClassName="HLAmanager.HLAfederate.HLAreport.HLAreportFederateLost")
        two.call("SubscribeInteractionClass", interactionClass=lost)
        two.regulate(1)
        two.constrain()
        ready, told = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self.live(rti, told)
            finally:
                os._exit(1)
        self.addCleanup(os.waitpid, child, 0)
        os.close(told)
        self.assertEqual(os.read(ready, 1), b"1")
        os.close(ready)
        two.advance("TimeAdvanceRequest", 10)
        os.kill(child, signal.SIGKILL)
        self.assertEqual(two.granted(), 10)
        self.assertEqual(unreal(two.wait("receiveInteractionWithTime").time.data), 7)
        two.wait("removeObjectInstance")
        self.assertEqual(two.wait("receiveInteraction").interactionClass, lost)

    def test_a_slow_federate_is_dropped(self):
        rti = self.rti("--queue", 200, "--grace", 0)
        one, two = self.pair(rti)
        big = bytes(100000)
        for _ in range(400):  # one reads nothing of it
            two.call("UpdateAttributeValues", objectInstance=two.body, attributeValues=two.values([(two.z, big)]))
        self.assertTrue(wait_until(lambda: "f0 is gone: the federate is too slow" in rti.text()), rti.text())
        two.call("ListFederationExecutionMembers", federationName="road")
        members = two.wait("reportFederationExecutionMembers").report.federationExecutionMemberInformation
        self.assertEqual([m.federateName for m in members], ["f1"])

    def test_a_silent_connection_counts_as_cut(self):
        rti = self.rti("--silence", 0.3, "--grace", 0.1)
        one = self.federate(rti)
        one.join("road", "one", fom=FOM)
        with self.assertRaises(Ended):
            one.take()
        self.assertTrue(wait_until(lambda: "one is gone" in rti.text()), rti.text())


class Crowds(RtiTest):
    def test_all_at_once(self):
        """Many federates connect, join, declare, register and step, all at the same time; none of their messages is lost."""
        rti, count, steps = self.rti(), 60, 3
        crowd = [self.federate(rti, connect=False) for _ in range(count)]
        def all_call(name, **fields):
            numbers = [f.begin(name, **fields) for f in crowd]
            return [f.end(number) for f, number in zip(crowd, numbers)]
        all_call("Connect")
        crowd[0].call("CreateFederationExecution", federationName="crowd", fomModule=TYPES["FomModule"](
            file=TYPES["FileFomModule"](name="test.xml", content=FOM.encode())))
        handles = all_call("JoinFederationExecution", federateType="test", federationName="crowd")
        self.assertEqual(len({h.federateHandle.data for h in handles}), count)
        car, (z,) = crowd[0].object_class("Car", "z")
        attributes = crowd[0].set_of([z])
        all_call("PublishObjectClassAttributes", objectClass=car, attributes=attributes)
        all_call("SubscribeObjectClassAttributes", objectClass=car, attributes=attributes)
        bodies = all_call("RegisterObjectInstance", objectClass=car)
        all_call("EnableTimeRegulation", lookahead=for_(1))
        all_call("EnableTimeConstrained")
        for step in range(1, steps + 1):
            numbers = [f.begin("UpdateAttributeValuesWithTime", objectInstance=body, time=at(step),
                               attributeValues=f.values([(z, real(step))])) for f, body in zip(crowd, bodies)]
            for f, number in zip(crowd, numbers):
                f.end(number)
            all_call("TimeAdvanceRequest", time=at(step))
        for f in crowd:
            for step in range(1, steps + 1):
                self.assertEqual(f.granted(), step)
            got = [name for name, _ in f.callbacks]
            self.assertEqual(got.count("discoverObjectInstance"), count - 1)
            self.assertEqual(got.count("reflectAttributeValuesWithTime"), steps * (count - 1))
        all_call("ResignFederationExecution", resignAction=4)
        self.assertEqual(json.loads(self.tutti("rti", "status", rti.address, "--json").out)["federations"][0]["federates"], [])

    def test_no_descriptors_left(self):
        """Connections beyond the limit wait until there is room; the RTI tells it once, and does not spin."""
        rti = self.rti(files=24)
        host, _, port = rti.address.rpartition(":")
        crowd = [socket.create_connection((host, int(port))) for _ in range(40)]
        self.assertTrue(wait_until(lambda: "no connection can be taken" in rti.text()), rti.text())
        self.assertTrue(wait_until(lambda: is_asleep(rti.process.pid)), "it spins")
        for sock in crowd:
            sock.close()
        late = self.federate(rti)
        late.join("road", "late", fom=FOM)
        self.assertEqual(rti.text().count("no connection can be taken"), 1)


class Garbage(RtiTest):
    def sends(self, rti, data):
        """Sends bytes on a connection of their own; whatever comes back, the RTI goes on."""
        host, _, port = rti.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as sock:
            try:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(65536):
                    pass
            except ConnectionError:
                pass

    def test_garbage(self):
        rti = self.rti()
        good = self.federate(rti)
        good.join("road", "one", fom=FOM)
        chance = random.Random(2)
        begin = pack(NEW_SESSION, 0, 0, NONE, struct.pack(">i", 1))
        inputs = [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1000, begin[:20], begin * 3, pack(CALL, 0, 0, 0, b"abc"),
                  pack(NEW_SESSION, 0, 0, NONE, struct.pack(">i", 99)), HEADER.pack(2**31, 0, 0, 0, CALL), begin + begin[:7],
                  *(chance.randbytes(chance.randrange(2000)) for _ in range(30)),
                  *(begin + chance.randbytes(chance.randrange(2000)) for _ in range(30))]
        for data in inputs:
            self.sends(rti, data)
        self.assertEqual(good.call("GetFederateName", federate=good.call("GetFederateHandle", federateName="one")), "one")
        good.terminate()

    def test_garbage_inside_of_calls(self):
        rti = self.rti()
        chance = random.Random(3)
        one = self.federate(rti)
        one.join("road", "one", fom=FOM)
        calls = [b"", b"\xff" * 30, b"\x0a\xff\xff\xff\xff\x0f", b"\xa2\x3f\x00", *(chance.randbytes(40) for _ in range(200))]
        valid = [TYPES["CallRequest"](publishObjectClassAttributesRequest=TYPES["PublishObjectClassAttributesRequest"](
            objectClass=one.call("GetObjectClassHandle", objectClassName="Car"))).SerializeToString()]
        for _ in range(300):
            broken = bytearray(valid[0])
            broken[chance.randrange(len(broken))] = chance.randrange(256)
            calls.append(bytes(broken))
        for data in calls:
            number = one.send(CALL, data)
            while number not in one.responses:
                one.take()
        one.fails("FederateAlreadyExecutionMember", "JoinFederationExecution", federateType="a", federationName="road")
        number = one.send(CALL, b"\x6a\x04\x0a\x02\xff\xfe")
        while number not in one.responses:
            one.take()

    def test_a_message_that_is_too_long_before_it_connects(self):
        one = self.federate(self.rti(), connect=False)
        one.send(CALL, bytes(100000))
        with self.assertRaises(Ended):
            one.take()


class Keys(RtiTest):
    def test_a_key(self):
        key = self.folder / "key"
        key.write_text("Grüße\n", "utf-8")
        key.chmod(0o600)
        rti = self.rti("--key", key)
        self.federate(rti, key="Grüße").join("road", "one", fom=FOM)
        one = self.federate(rti, connect=False)
        self.assertIn("wants a key", one.fails("Unauthorized", "Connect"))
        one.fails("NotConnected", "ListFederationExecutions")
        one.fails("InvalidCredentials", "ConnectWithCredentials", credentials=TYPES["Credentials"](
            type="HLAplainTextPassword", data=struct.pack(">I", 5) + "Grusz".encode("utf-16-be")))
        one.fails("Unauthorized", "ConnectWithCredentials", credentials=TYPES["Credentials"](
            type="HLAplainTextPassword", data=struct.pack(">I", 2**31) + b"abc"))
        one.fails("Unauthorized", "ConnectWithConfiguration", rtiConfiguration=TYPES["RtiConfiguration"](additionalSettings="a=b"))
        one.call("ConnectWithConfiguration", rtiConfiguration=TYPES["RtiConfiguration"](
            additionalSettings="API.version=IEEE 1516-2010\ntutti.key=Grüße,other=1"))
        one.terminate()

    def test_keys_that_are_none(self):
        key = self.folder / "key"
        self.assertIn("cannot be opened", self.tutti("rti", "--key", "key", status=2).err)
        key.write_text("\n")
        key.chmod(0o600)
        self.assertIn("is empty", self.tutti("rti", "--key", "key", status=2).err)
        key.write_text("secret\n")
        key.chmod(0o644)
        self.assertIn("chmod 600", self.tutti("rti", "--key", "key", status=2).err)



class Sessions(RtiTest):
    def test_a_session_of_another(self):
        """The number of a session cannot be guessed; who has a wrong one gets nothing."""
        rti = self.rti()
        one = self.federate(rti)
        one.session ^= 1
        one.resume(expected=1)
        one.session ^= 1
        one.resume()
        one.send(TERMINATE)


if __name__ == "__main__":
    unittest.main()
