# SPDX-License-Identifier: MIT
"""`tutti rti`: federates over the Federate Protocol."""
import io
import json
import unittest
import zipfile

from command import wait_until
from fedpro import FOM, TYPES, Ended, RtiTest, at, real, unreal


class Federations(RtiTest):
    def test_two_federates_see_each_other(self):
        rti = self.rti()
        one, two = self.federate(rti), self.federate(rti)
        joined = one.join("road", "one", fom=FOM)
        self.assertEqual(joined.logicalTimeImplementationName, "HLAfloat64Time")
        two.join("road", "two", fom=FOM)
        car, (z, v) = one.publish("Car", "z", "v")
        two.subscribe("HLAobjectRoot.Car", "z", "v")
        body = one.call("RegisterObjectInstance", objectClass=car)
        found = two.wait("discoverObjectInstance")
        self.assertEqual(found.objectInstance, body)
        self.assertEqual(two.call("GetFederateName", federate=found.producingFederate), "one")
        self.assertEqual(two.call("GetObjectInstanceName", objectInstance=found.objectInstance), found.objectInstanceName)
        one.call("UpdateAttributeValues", objectInstance=body, attributeValues=one.values([(z, real(1.5)), (v, real(-2))]),
                 userSuppliedTag=b"tag")
        values = {}
        while len(values) < 2:  # attributes of one order come together
            seen = two.wait("reflectAttributeValues")
            self.assertEqual(seen.userSuppliedTag, b"tag")
            self.assertEqual(seen.transportationType.data, b"\0\0\0\1")  # as client libraries have it
            for pair in seen.attributeValues.attributeHandleValue:
                values[two.call("GetAttributeName", objectClass=car, attribute=pair.attributeHandle)] = unreal(pair.value)
        self.assertEqual(values, {"z": 1.5, "v": -2})
        one.call("DeleteObjectInstance", objectInstance=body)
        self.assertEqual(two.wait("removeObjectInstance").objectInstance, body)
        self.assertIn("a federation is created: road", rti.text())
        self.assertIn("two joins road", rti.text())

    def test_from_connect_to_disconnect(self):
        rti = self.rti()
        one = self.federate(rti, connect=False)
        one.fails("NotConnected", "ListFederationExecutions")
        one.fails("NotConnected", "Disconnect")
        one.call("ConnectWithConfiguration", rtiConfiguration=TYPES["RtiConfiguration"](rtiAddress="here"))
        one.fails("AlreadyConnected", "Connect")
        one.fails("FederationExecutionDoesNotExist", "JoinFederationExecution", federateType="t", federationName="road")
        one.join("road", "one", fom=FOM)
        one.call("ListFederationExecutions")
        report = one.wait("reportFederationExecutions").report.federationExecutionInformation
        self.assertEqual([(r.federationExecutionName, r.logicalTimeImplementationName) for r in report],
                         [("road", "HLAfloat64Time")])
        one.call("ListFederationExecutionMembers", federationName="road")
        members = one.wait("reportFederationExecutionMembers").report.federationExecutionMemberInformation
        self.assertEqual([(m.federateName, m.federateType) for m in members], [("one", "test")])
        one.fails("FederatesCurrentlyJoined", "DestroyFederationExecution", federationName="road")
        one.fails("FederateIsExecutionMember", "Disconnect")
        one.fails("InvalidResignAction", "ResignFederationExecution", resignAction=17)
        one.call("ResignFederationExecution", resignAction=5)
        one.call("DestroyFederationExecution", federationName="road")
        one.call("Disconnect")
        one.fails("NotConnected", "ListFederationExecutions")
        one.terminate()

    def test_what_is_not_served_says_so(self):
        one = self.federate(self.rti())
        one.join("road", "one", fom=FOM)
        self.assertIn("saving a federation is not served", one.fails("RTIinternalError", "RequestFederationSave", label="a"))
        self.assertIn("regions", one.fails("RTIinternalError", "CreateRegion"))

    def test_wrong_handles_and_times(self):
        one = self.federate(self.rti())
        one.join("road", "one", fom=FOM)
        car, (z, _) = one.publish("Car", "z", "v")
        one.fails("NameNotFound", "GetObjectClassHandle", objectClassName="Boat")
        one.fails("InvalidObjectClassHandle", "GetObjectClassName", objectClass=TYPES["ObjectClassHandle"](data=b"xyz"))
        one.fails("ObjectInstanceNotKnown", "UpdateAttributeValues", objectInstance=TYPES["ObjectInstanceHandle"](data=b"\0\0\1\0"),
                  attributeValues=one.values([(z, b"1")]))
        body = one.call("RegisterObjectInstance", objectClass=car)
        one.fails("InvalidLogicalTime", "UpdateAttributeValuesWithTime", objectInstance=body,
                  attributeValues=one.values([(z, b"1")]), time=TYPES["LogicalTime"](data=b"abc"))
        one.fails("InvalidLookahead", "EnableTimeRegulation", lookahead=TYPES["LogicalTimeInterval"](data=real(-1)))

    def test_kinds_of_transport(self):
        rti = self.rti()
        one = self.federate(rti)
        joined = one.join("road", "one", fom=FOM)
        car, (z, v) = one.publish("Car", "z", "v")
        body = one.call("RegisterObjectInstance", objectClass=car)
        reliable = one.call("GetTransportationTypeHandle", transportationTypeName="HLAreliable")
        best = one.call("GetTransportationTypeHandle", transportationTypeName="HLAbestEffort")
        self.assertEqual((reliable.data, best.data), (b"\0\0\0\1", b"\0\0\0\2"))  # client libraries have them as constants
        one.call("RequestAttributeTransportationTypeChange", objectInstance=body, attributes=one.set_of([z]), transportationType=best)
        done = one.wait("confirmAttributeTransportationTypeChange")
        self.assertEqual((list(done.attributes.attributeHandle), done.transportationType), ([z], best))
        one.call("QueryAttributeTransportationType", objectInstance=body, attribute=z)
        told = one.wait("reportAttributeTransportationType")
        self.assertEqual((told.objectInstance, told.attribute, told.transportationType), (body, z, best))
        one.call("ChangeDefaultAttributeTransportationType", objectClass=car, attributes=one.set_of([v]), transportationType=best)
        root = one.call("GetInteractionClassHandle", interactionClassName="HLAinteractionRoot")
        one.call("PublishInteractionClass", interactionClass=root)
        one.call("RequestInteractionTransportationTypeChange", interactionClass=root, transportationType=best)
        self.assertEqual(one.wait("confirmInteractionTransportationTypeChange").transportationType, best)
        one.call("QueryInteractionTransportationType", federate=joined.federateHandle, interactionClass=root)
        told = one.wait("reportInteractionTransportationType")
        self.assertEqual((told.federate, told.interactionClass, told.transportationType), (joined.federateHandle, root, best))

    def test_points_of_synchronization(self):
        rti = self.rti()
        one, two = self.federate(rti), self.federate(rti)
        one.join("road", "one", fom=FOM)
        two.join("road", "two")
        one.call("RegisterFederationSynchronizationPoint", synchronizationPointLabel="ready", userSuppliedTag=b"go")
        one.wait("synchronizationPointRegistrationSucceeded")
        for federate in (one, two):
            self.assertEqual(federate.wait("announceSynchronizationPoint").userSuppliedTag, b"go")
            federate.call("SynchronizationPointAchieved", synchronizationPointLabel="ready", successfully=True)
        for federate in (one, two):
            self.assertEqual(federate.wait("federationSynchronized").synchronizationPointLabel, "ready")

    def test_names_and_ownership(self):
        rti = self.rti()
        one, two = self.federate(rti), self.federate(rti)
        one.join("road", "one", fom=FOM)
        two.join("road", "two")
        car, (z, v) = one.publish("Car", "z", "v")
        two.publish("Car", "z", "v")
        two.subscribe("Car", "z", "v")
        one.call("ReserveObjectInstanceName", objectInstanceName="beetle")
        one.wait("objectInstanceNameReservationSucceeded")
        two.call("ReserveObjectInstanceName", objectInstanceName="beetle")
        two.wait("objectInstanceNameReservationFailed")
        beetle = one.call("RegisterObjectInstanceWithName", objectClass=car, objectInstanceName="beetle")
        self.assertEqual(two.wait("discoverObjectInstance").objectInstanceName, "beetle")
        self.assertFalse(two.call("IsAttributeOwnedByFederate", objectInstance=beetle, attribute=z))
        one.call("UnconditionalAttributeOwnershipDivestiture", objectInstance=beetle, attributes=one.set_of([z]))
        two.call("AttributeOwnershipAcquisitionIfAvailable", objectInstance=beetle, desiredAttributes=two.set_of([z, v]))
        self.assertEqual(list(two.wait("attributeOwnershipAcquisitionNotification").securedAttributes.attributeHandle), [z])
        self.assertEqual(list(two.wait("attributeOwnershipUnavailable").attributes.attributeHandle), [v])
        self.assertTrue(two.call("IsAttributeOwnedByFederate", objectInstance=beetle, attribute=z))


def text_of(data):
    """HLAunicodeString."""
    assert int.from_bytes(data[:4], "big") == len(data[4:]) // 2
    return data[4:].decode("utf-16-be")


class Management(RtiTest):
    """The management object model: federates see each other come and go."""

    def watch(self, watcher, name, *attributes):
        """Subscribes; returns the names of the attributes by their handles."""
        _, handles = watcher.subscribe(name, *attributes)
        return {h.data: a for h, a in zip(handles, attributes)}

    def reflected(self, watcher, names):
        seen = watcher.wait("reflectAttributeValues")
        return seen.objectInstance.data, {names[p.attributeHandle.data]: p.value for p in seen.attributeValues.attributeHandleValue}

    def test_federates_come_and_go(self):
        rti = self.rti()
        watcher, other = self.federate(rti), self.federate(rti)
        own = watcher.join("road", "wätcher 🚗", fom=FOM).federateHandle
        names = self.watch(watcher, "HLAmanager.HLAfederate", "HLAfederateHandle", "HLAfederateName", "HLAfederateType",
                           "HLAtimeRegulating", "HLAtimeConstrained")
        found = watcher.wait("discoverObjectInstance")
        self.assertEqual(watcher.call("GetObjectInstanceName", objectInstance=found.objectInstance), found.objectInstanceName)
        first, told = self.reflected(watcher, names)
        self.assertEqual(first, found.objectInstance.data)
        self.assertEqual(told["HLAfederateHandle"], own.data)
        self.assertEqual((text_of(told["HLAfederateName"]), text_of(told["HLAfederateType"])), ("wätcher 🚗", "test"))
        self.assertEqual((told["HLAtimeRegulating"], told["HLAtimeConstrained"]), (bytes(4), bytes(4)))
        member = other.join("road", "other").federateHandle
        body = watcher.wait("discoverObjectInstance").objectInstance
        second, told = self.reflected(watcher, names)
        self.assertEqual((second, told["HLAfederateHandle"]), (body.data, member.data))
        self.assertEqual(watcher.call("GetFederateName", federate=TYPES["FederateHandle"](data=told["HLAfederateHandle"])), "other")
        other.regulate(1)
        self.assertEqual(self.reflected(watcher, names), (body.data, {
            "HLAtimeRegulating": b"\0\0\0\1", "HLAtimeConstrained": bytes(4)}))
        handles = [TYPES["AttributeHandle"](data=data) for data in names]
        watcher.fails("AttributeNotOwned", "UpdateAttributeValues", objectInstance=body,
                      attributeValues=watcher.values([(handles[0], b"1")]))
        watcher.fails("DeletePrivilegeNotHeld", "DeleteObjectInstance", objectInstance=body)
        watcher.call("QueryAttributeOwnership", objectInstance=body, attributes=watcher.set_of(handles[:1]))
        self.assertEqual(watcher.wait("attributeIsOwnedByRTI").objectInstance, body)
        other.call("ResignFederationExecution", resignAction=5)
        self.assertEqual(watcher.wait("removeObjectInstance").objectInstance, body)

    def test_the_federation(self):
        rti = self.rti()
        watcher, other = self.federate(rti), self.federate(rti)
        own = watcher.join("road", "watcher", fom=FOM).federateHandle.data
        names = self.watch(watcher, "HLAmanager.HLAfederation", "HLAfederationName", "HLAfederatesInFederation",
                           "HLAtimeImplementationName", "HLAFOMmoduleDesignatorList", "HLAautoProvide")
        body, told = self.reflected(watcher, names)
        self.assertEqual(text_of(told["HLAfederationName"]), "road")
        self.assertEqual(text_of(told["HLAtimeImplementationName"]), "HLAfloat64Time")
        self.assertEqual(told["HLAfederatesInFederation"], b"\0\0\0\1" + own)
        self.assertEqual(told["HLAFOMmoduleDesignatorList"][:4], b"\0\0\0\1")
        self.assertEqual(text_of(told["HLAFOMmoduleDesignatorList"][4:]), "test.xml")
        self.assertEqual(told["HLAautoProvide"], bytes(4))
        member = other.join("road", "other").federateHandle.data
        self.assertEqual(self.reflected(watcher, names), (body, {"HLAfederatesInFederation": b"\0\0\0\2" + own + member}))
        watcher.call("RequestInstanceAttributeValueUpdate", objectInstance=TYPES["ObjectInstanceHandle"](data=body),
                     attributes=watcher.set_of([TYPES["AttributeHandle"](data=next(iter(names)))]))
        self.assertEqual(list(self.reflected(watcher, names)[1]), ["HLAfederationName"])

    def test_one_that_is_lost_is_reported(self):
        rti = self.rti("--grace", 0)
        watcher, other = self.federate(rti), self.federate(rti)
        watcher.join("road", "watcher", fom=FOM)
        handle = other.join("road", "other").federateHandle.data
        report = watcher.call("GetInteractionClassHandle",
                              interactionClassName="HLAmanager.HLAfederate.HLAreport.HLAreportFederateLost")
        watcher.call("SubscribeInteractionClass", interactionClass=report)
        other.cut()
        told = watcher.wait("receiveInteraction")
        self.assertEqual(told.interactionClass, report)
        values = {}
        for name in ("HLAfederate", "HLAfederateName", "HLAtimestamp", "HLAfaultDescription"):
            parameter = watcher.call("GetParameterHandle", interactionClass=report, parameterName=name)
            values[name] = next(p.value for p in told.parameterValues.parameterHandleValue if p.parameterHandle == parameter)
        self.assertEqual(values["HLAfederate"], handle)
        self.assertEqual(text_of(values["HLAfederateName"]), "other")
        self.assertEqual(values["HLAtimestamp"], b"\0\0\0\x08" + real(0))
        self.assertIn("not resumed", text_of(values["HLAfaultDescription"]))


class Modules(RtiTest):
    def create(self, federate, name, **module):
        return federate.call("CreateFederationExecution", federationName=name, fomModule=TYPES["FomModule"](**module))

    def test_modules_zipped(self):
        one = self.federate(self.rti())
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("Test.xml", FOM)
        self.create(one, "road", compressedModule=packed.getvalue())
        one.join("road", "one")
        one.publish("Car", "z")
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb.xml", bytes(50_000_000))
        for bad in (packed.getvalue(), b"PK\3\4 and no more"):
            one.fails("ErrorReadingFOM", "CreateFederationExecution", federationName="other",
                      fomModule=TYPES["FomModule"](compressedModule=bad))

    def test_modules_by_name(self):
        (self.folder / "Test.xml").write_text(FOM)
        (self.folder / "Other.xml").write_text(FOM)
        one = self.federate(self.rti("--fom", self.folder / "Test.xml"))
        self.create(one, "by name", url="Test.xml")
        self.create(one, "by url", url=f"file://{self.folder}/Test.xml")
        for url in (f"file://{self.folder}/Other.xml", "file:///etc/passwd", "http://localhost/Test.xml"):
            self.assertIn("--fom", one.fails("CouldNotOpenFOM", "CreateFederationExecution", federationName="other",
                                             fomModule=TYPES["FomModule"](url=url)))

    def test_modules_that_are_none(self):
        one = self.federate(self.rti())
        for text in ("", "<a/>", FOM[:-20], FOM.replace("HLAobjectRoot", "Root", 1)):
            with self.assertRaisesRegex(Exception, "ErrorReadingFOM|InvalidFOM|InconsistentFOM"):
                self.create(one, "road", file=TYPES["FileFomModule"](name="x.xml", content=text.encode()))
        one.fails("CouldNotOpenFOM", "CreateFederationExecution", federationName="road")
        wrong = self.tutti("rti", "--listen", "127.0.0.1:0", "--fom", "missing.xml", status=1)
        self.assertIn("missing.xml cannot be opened", wrong.err)


class Time(RtiTest):
    def pair(self, rti, lookahead=1.0):
        federates = [self.federate(rti), self.federate(rti)]
        for i, federate in enumerate(federates):
            federate.join("road", f"f{i}", fom=FOM)
            federate.car, (federate.z,) = federate.publish("Car", "z")
            federate.subscribe("Car", "z")
            federate.body = federate.call("RegisterObjectInstance", objectClass=federate.car)
        for federate in federates:
            federate.wait("discoverObjectInstance")
            federate.regulate(lookahead)
            federate.constrain()
        return federates

    def update(self, federate, value, time):
        return federate.call("UpdateAttributeValuesWithTime", objectInstance=federate.body,
                             attributeValues=federate.values([(federate.z, real(value))]), time=at(time))

    def test_steps_of_time(self):
        one, two = self.pair(self.rti("--verbose"))
        for n in range(20):
            for i, federate in enumerate((one, two)):
                self.update(federate, 100 * i + n, n + 1)
                federate.advance("TimeAdvanceRequest", n + 1)
            for i, federate in enumerate((one, two)):
                self.assertEqual(federate.granted(), n + 1)
                seen = federate.wait("reflectAttributeValuesWithTime")
                self.assertEqual(unreal(seen.time.data), n + 1)
                self.assertEqual(seen.receivedOrderType, 1)
                self.assertEqual(unreal(seen.attributeValues.attributeHandleValue[0].value), 100 * (1 - i) + n)
                self.assertEqual(federate.callbacks, [])
        self.assertEqual(unreal(one.call("QueryLogicalTime").data), 20)
        self.assertEqual(unreal(one.call("QueryGALT").logicalTime.data), 21)

    def test_a_federate_waits_for_the_other(self):
        one, two = self.pair(self.rti("--verbose"))
        one.advance("TimeAdvanceRequest", 5)
        self.assertEqual(one.seen(), [])
        two.advance("TimeAdvanceRequest", 4.5)
        self.assertEqual(one.granted(), 5)
        one.fails("LogicalTimeAlreadyPassed", "TimeAdvanceRequest", time=at(4))
        self.assertEqual(two.granted(), 4.5)

    def test_next_messages(self):
        one, two = self.pair(self.rti())
        for n in (3, 1.5, 2):
            self.update(one, n, n)
        two.advance("NextMessageRequest", 10)
        one.advance("TimeAdvanceRequest", 10)
        for n in (1.5, 2, 3):
            seen = two.wait("reflectAttributeValuesWithTime")
            self.assertEqual(unreal(seen.time.data), n)
            self.assertEqual(two.granted(), n)
            two.advance("NextMessageRequest", 10)
        self.assertEqual(two.granted(), 10)
        self.assertEqual(one.granted(), 10)

    def test_flush_and_retract(self):
        one, two = self.pair(self.rti())
        kept, gone = self.update(one, 1, 5), self.update(one, 2, 6)
        self.assertTrue(kept.retractionHandleIsValid)
        one.call("Retract", retraction=gone.messageRetractionHandle)
        two.advance("FlushQueueRequest", 3)
        grant = two.wait("flushQueueGrant")
        self.assertEqual(unreal(grant.time.data), 1)  # the other one may still send from its lookahead on
        self.assertEqual(unreal(two.wait("reflectAttributeValuesWithTime").time.data), 5)
        self.assertEqual(two.callbacks, [])

    def test_integer_time(self):
        one = self.federate(self.rti())
        module = TYPES["FomModule"](file=TYPES["FileFomModule"](name="a.xml", content=FOM.encode()))
        one.call("CreateFederationExecutionWithModulesAndTime", federationName="road",
                 fomModules=TYPES["FomModuleSet"](fomModule=[module]), logicalTimeImplementationName="HLAinteger64Time")
        self.assertEqual(one.join("road", "one").logicalTimeImplementationName, "HLAinteger64Time")
        one.call("EnableTimeRegulation", lookahead=TYPES["LogicalTimeInterval"](data=(2).to_bytes(8, "big")))
        self.assertEqual(one.wait("timeRegulationEnabled").time.data, bytes(8))
        one.fails("CouldNotCreateLogicalTimeFactory", "CreateFederationExecutionWithModulesAndTime", federationName="x",
                  fomModules=TYPES["FomModuleSet"](fomModule=[module]), logicalTimeImplementationName="Sundial")


class Status(RtiTest):
    def test_status(self):
        rti = self.rti()
        self.assertEqual(self.tutti("rti", "status", rti.address).out, "no federation\n")
        pair = [self.federate(rti), self.federate(rti)]
        for name, federate in zip(("slow", "fast"), pair):
            federate.join("road", name, fom=FOM)
            federate.regulate(0.5)
            federate.constrain()
        car, (z,) = pair[0].publish("Car", "z")
        pair[1].subscribe("Car", "z")
        body = pair[0].call("RegisterObjectInstance", objectClass=car)
        pair[0].call("UpdateAttributeValuesWithTime", objectInstance=body, attributeValues=pair[0].values([(z, b"1")]), time=at(3))
        pair[1].advance("TimeAdvanceRequest", 7)
        self.assertEqual(pair[1].seen()[-1][0], "discoverObjectInstance")
        told = json.loads(self.tutti("rti", "status", rti.address, "--json").out)
        self.assertEqual(told["sessions"], 3)
        (road,) = told["federations"]
        self.assertEqual((road["name"], road["time"], road["objects"]), ("road", "HLAfloat64Time", 1))
        slow, fast = road["federates"]
        self.assertEqual(slow | {"galt": None}, {
            "name": "slow", "type": "test", "time": 0, "regulating": True, "lookahead": 0.5, "constrained": True, "pending": None,
            "target": None, "galt": None, "lits": slow["lits"], "held_by": "fast", "queued": 0, "unsent": 0, "connected": True})
        self.assertEqual((fast["pending"], fast["target"], fast["galt"], fast["held_by"], fast["queued"]), ("TAR", 7, 0.5, "slow", 1))
        self.assertIn("'fast' at 0 waits for 7", road["waits"])
        words = self.tutti("rti", "status", rti.address).out
        self.assertIn("road: 2 federates, 1 objects, HLAfloat64Time\n", words)
        self.assertIn("fast (test): at 0, lookahead 0.5, GALT 0.5 by slow, waits for 7 (TAR), 1 messages for later\n", words)

    def test_a_stall_is_told(self):
        rti = self.rti("--stall", "0.5")
        pair = [self.federate(rti), self.federate(rti)]
        for name, federate in zip(("slow", "fast"), pair):
            federate.join("road", name, fom=FOM)
            federate.regulate(0.5)
            federate.constrain()
        pair[1].advance("TimeAdvanceRequest", 7)
        self.assertTrue(wait_until(lambda: "no time was granted" in rti.text()), rti.text())
        self.assertRegex(rti.text(), r"warning: road: no time was granted for \d+ s: 'fast' at 0 waits for 7 \(time advance request\) "
                                     r"for 'slow', which is at 0 with lookahead 0\.5 and may send from 0\.5\n")
        pair[0].advance("TimeAdvanceRequest", 7)
        pair[1].wait("timeAdvanceGrant")
        self.assertTrue(wait_until(lambda: "road: time goes on, after" in rti.text()), rti.text())
        self.assertEqual(rti.text().count("no time was granted"), 1)

    def test_nothing_there(self):
        self.assertIn("no RTI answers at 127.0.0.1:1", self.tutti("rti", "status", "127.0.0.1:1", status=1).err)
        self.assertIn("tutti rti status HOST:PORT", self.tutti("rti", "status", status=2).err)
        self.assertIn("tutti rti status HOST:PORT", self.tutti("rti", "stop", "127.0.0.1:1", status=2).err)

    def test_with_a_key(self):
        key = self.folder / "key"
        key.write_text("Grüße\n", "utf-8")
        key.chmod(0o600)
        rti = self.rti("--key", key)
        self.assertIn("Unauthorized", self.tutti("rti", "status", rti.address, status=1).err)
        self.assertEqual(self.tutti("rti", "status", rti.address, "--key", str(key)).out, "no federation\n")


class Command(RtiTest):
    def test_ends_by_signal_and_federates_are_cut(self):
        rti = self.rti()
        one = self.federate(rti)
        rti.end()
        with self.assertRaises(Ended):
            one.call("ListFederationExecutions")

    def test_addresses(self):
        for wrong in ("a:b:c", "127.0.0.1", ":0", "", "localhost:", "::1:0", "127.0.0.1:65536", "a b:1"):  # as node and web do
            with self.subTest(wrong=wrong):
                for command in (("rti",), ("node",), ("web", self.folder, "--no-browser")):
                    self.assertIn("--listen: '%s' is not HOST:PORT" % wrong, self.tutti(*command, "--listen", wrong, status=2).err)
        rti = self.rti()
        self.assertIn("cannot listen at", self.tutti("rti", "--listen", rti.address, status=1).err)


if __name__ == "__main__":
    unittest.main()
