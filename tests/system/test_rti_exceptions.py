# SPDX-License-Identifier: MIT
"""Every service of the RTI fails by the exceptions that IEEE 1516.1-2025 lists for it, over the wire."""
import unittest

from fedpro import CALL, FOM, TYPES, RtiTest, at, real

UNSERVED = {*range(23, 35), *range(109, 124), 148, 149, 150}  # save and restore, regions
NO = 9999  # no handle of anything

DIVEST, DELETE, CANCEL, DELETE_THEN_DIVEST, CANCEL_DELETE_DIVEST, NO_ACTION = range(6)


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    """A field of Protocol Buffers: an integer, a text, or bytes (also those of a message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(*values):
    """Fields 1, 2, ...; None: it is not there."""
    return b"".join(field(i, value) for i, value in enumerate(values, 1) if value is not None)


def handle(number):
    return fields(number.to_bytes(4, "big"))


def retraction(number):
    return fields(number.to_bytes(8, "big"))


def time(value):
    return fields(real(value))


def several(*numbers):
    return b"".join(field(1, handle(n)) for n in numbers)


def values(*numbers):
    return b"".join(field(1, fields(handle(n), b"value")) for n in numbers)


def module(text, name="m.xml"):
    return fields(fields(name, text))


class Exceptions(RtiTest):
    def outcome(self, federate, number, *content):
        """The name of the exception with which the call fails; None: it does not."""
        sequence = federate.send(CALL, field(number, fields(*content)))
        while sequence not in federate.responses:
            federate.take()
        response = federate.responses.pop(sequence)
        if response.WhichOneof("choice") != "exceptionData":
            return None
        self.assertNotEqual(response.exceptionData.details, "")
        return response.exceptionData.exceptionName

    def check(self, federate, table):
        for exception, number, *content in table:
            with self.subTest(service=number, exception=exception):
                self.assertEqual(self.outcome(federate, number, *content), exception)

    def number_of(self, found):
        return int.from_bytes(found.data[-4:], "big")

    def member(self, rti, name):
        federate = self.federate(rti)
        joined = federate.join("road", name, fom=FOM)
        federate.handle = self.number_of(joined.federateHandle)
        return federate

    def setUp(self):
        super().setUp()
        self.one_rti = self.rti()

    def scene(self):
        """`owner` has a car with its z, `other` knows it, `stranger` has only joined."""
        owner, other, stranger = (self.member(self.one_rti, name) for name in ("owner", "other", "stranger"))
        car, (z, v) = owner.object_class("Car", "z", "v")
        honk = owner.call("GetInteractionClassHandle", interactionClassName="Honk")
        pitch = owner.call("GetParameterHandle", interactionClass=honk, parameterName="pitch")
        owner.publish("Car", "z")
        other.subscribe("Car", "z", "v")
        body = owner.call("RegisterObjectInstance", objectClass=car)
        other.wait("discoverObjectInstance")
        return (owner, other, stranger, *map(self.number_of, (car, z, v, honk, pitch, body)))

    def test_not_connected_and_not_joined(self):
        federate = self.federate(self.one_rti, connect=False)
        for number in range(5, 179):
            wanted = "RTIinternalError" if number in UNSERVED else "NotConnected"
            self.assertEqual(self.outcome(federate, number), wanted, number)
        federate.call("Connect")
        for number in range(19, 179):
            wanted = "RTIinternalError" if number in UNSERVED else "FederateNotExecutionMember"
            self.assertEqual(self.outcome(federate, number), wanted, number)
        for number in (179, 500, 100000):
            self.assertEqual(self.outcome(federate, number), "RTIinternalError")

    def test_federations(self):
        federate = self.federate(self.one_rti)
        several_modules = [field(1, m) for m in (module(FOM), module(FOM.replace("HLAfloat64BE", "HLAfloat32BE"), "n.xml"))]
        self.check(federate, [
            *(("AlreadyConnected", n) for n in (1, 2, 3, 4)),
            ("CouldNotOpenFOM", 6, "road", fields(None, None, "nowhere.xml")),
            ("ErrorReadingFOM", 6, "road", module("<objectModel")),
            ("ErrorReadingFOM", 6, "road", fields(None, b"PK\3\4 and no more")),
            ("CouldNotCreateLogicalTimeFactory", 7, "road", module(FOM), "HLAlunarTime"),
            ("InconsistentFOM", 8, "road", b"".join(several_modules)),
            ("CouldNotCreateLogicalTimeFactory", 9, "road", field(1, module(FOM)), "HLAlunarTime"),
            ("DesignatorIsHLAstandardMIM", 10, "road", field(1, module(FOM)), fields(None, None, "HLAstandardMIM")),
            ("CouldNotOpenMIM", 10, "road", field(1, module(FOM)), fields(None, None, "nowhere.xml")),
            ("ErrorReadingMIM", 10, "road", field(1, module(FOM)), module("<objectModel")),
            ("CouldNotOpenFOM", 10, "road", field(1, fields(None, None, "nowhere.xml")), module(FOM)),
            ("CouldNotCreateLogicalTimeFactory", 11, "road", field(1, module(FOM)), module(FOM), "HLAlunarTime"),
            ("FederationExecutionDoesNotExist", 12, "road"),
            *(("FederationExecutionDoesNotExist", n, "type", "road") for n in (15, 16)),
            *(("FederationExecutionDoesNotExist", n, "name", "type", "road") for n in (17, 18)),
            (None, 6, "road", module(FOM)),
            *(("FederationExecutionAlreadyExists", n, "road", module(FOM)) for n in (6, 7)),
            *(("FederationExecutionAlreadyExists", n, "road", field(1, module(FOM))) for n in (8, 9)),
            *(("FederationExecutionAlreadyExists", n, "road", field(1, module(FOM)), module(FOM)) for n in (10, 11)),
            *(("InconsistentFOM", n, *who, "type", "road", several_modules[1]) for n, who in ((16, ()), (18, ("name",)))),
            *(("CouldNotOpenFOM", n, *who, "type", "road", field(1, fields(None, None, "nowhere.xml")))
              for n, who in ((16, ()), (18, ("name",)))),
            (None, 17, "name", "type", "road"),
            *(("FederateAlreadyExecutionMember", n, "type", "road") for n in (15, 16)),
            *(("FederateAlreadyExecutionMember", n, "other", "type", "road") for n in (17, 18)),
            ("FederateIsExecutionMember", 5),
            ("FederatesCurrentlyJoined", 12, "road"),
            ("InvalidResignAction", 19, 77),
            ("InvalidFederateHandle", 21, "point", b"tag", several(NO)),
            ("SynchronizationPointLabelNotAnnounced", 22, "point", 1),
        ])
        second = self.federate(self.one_rti)
        self.check(second, [*(("FederateNameAlreadyInUse", n, "name", "type", "road") for n in (17, 18))])

    def test_declarations(self):
        federate, _, _, car, z, _, honk, _, _ = self.scene()
        attributes = (35, 37, 43, 44, 45, 46, 48)
        self.check(federate, [
            *(("ObjectClassNotDefined", n, handle(NO), several(z)) for n in attributes),
            *(("AttributeNotDefined", n, handle(car), several(z, NO)) for n in attributes),
            *(("ObjectClassNotDefined", n, handle(NO)) for n in (36, 47)),
            *(("InteractionClassNotDefined", n, handle(NO)) for n in (38, 39, 49, 50, 51)),
            *(("ObjectClassNotDefined", n, handle(NO), several(honk)) for n in (40, 41, 42, 52, 53, 54, 55)),
            *(("InteractionClassNotDefined", n, handle(car), several(NO)) for n in (40, 42, 52, 53, 55)),
            *(("InvalidUpdateRateDesignator", n, handle(car), several(z), "never") for n in (44, 46)),
        ])

    def test_objects(self):
        owner, other, stranger, car, z, v, honk, pitch, body = self.scene()
        self.check(owner, [
            *(("IllegalName", n, name) for n in (56, 58) for name in ("HLAcar", "")),
            ("NameSetWasEmpty", 58),
            *(("ObjectInstanceNameNotReserved", n, "free") for n in (57, 59)),
            *(("ObjectClassNotDefined", n, handle(NO)) for n in (60, 61)),
            ("ObjectInstanceNameNotReserved", 61, handle(car), "free"),
            *(("ObjectInstanceNotKnown", n, handle(NO), values(z), b"") for n in (62,)),
            ("ObjectInstanceNotKnown", 63, handle(NO), values(z), b"", time(1)),
            *(("AttributeNotDefined", n, handle(body), values(NO), b"", time(1)) for n in (62, 63)),
            *(("AttributeNotOwned", n, handle(body), values(v), b"", time(1)) for n in (62, 63)),
            ("InvalidLogicalTime", 63, handle(body), values(z), b"", fields(b"short")),
            *(("InteractionClassNotDefined", n, handle(NO), b"", b"", time(1)) for n in (64, 65)),
            *(("InteractionClassNotPublished", n, handle(honk), values(pitch), b"", time(1)) for n in (64, 65)),
            *(("InteractionParameterNotDefined", n, handle(honk), values(NO), b"", time(1)) for n in (64, 65)),
            *(("InteractionClassNotDefined", n, handle(NO), handle(body), b"", b"", time(1)) for n in (66, 67)),
            *(("ObjectInstanceNotKnown", n, handle(honk), handle(NO), b"", b"", time(1)) for n in (66, 67)),
            *(("InteractionParameterNotDefined", n, handle(honk), handle(body), values(NO), b"", time(1)) for n in (66, 67)),
            *(("InteractionClassNotPublished", n, handle(honk), handle(body), b"", b"", time(1)) for n in (66, 67)),
            *(("ObjectInstanceNotKnown", n, handle(NO), b"", time(1)) for n in (68, 69)),
            *(("ObjectInstanceNotKnown", n, handle(NO), several(z)) for n in (70, 71)),
            ("FederateOwnsAttributes", 70, handle(body)),
            ("AttributeNotDefined", 71, handle(body), several(NO)),
            ("ObjectClassNotDefined", 72, handle(NO), several(z)),
            ("AttributeNotDefined", 72, handle(car), several(NO)),
            ("ObjectInstanceNotKnown", 73, handle(NO), several(z), handle(1)),
            ("AttributeNotDefined", 73, handle(body), several(NO), handle(1)),
            ("AttributeNotOwned", 73, handle(body), several(v), handle(1)),
            ("InvalidTransportationTypeHandle", 73, handle(body), several(z), handle(NO)),
            ("ObjectClassNotDefined", 74, handle(NO), several(z), handle(1)),
            ("AttributeNotDefined", 74, handle(car), several(NO), handle(1)),
            ("InvalidTransportationTypeHandle", 74, handle(car), several(z), handle(NO)),
            ("ObjectInstanceNotKnown", 75, handle(NO), handle(z)),
            ("AttributeNotDefined", 75, handle(body), handle(NO)),
            ("InteractionClassNotDefined", 76, handle(NO), handle(1)),
            ("InteractionClassNotPublished", 76, handle(honk), handle(1)),
            ("InteractionClassNotDefined", 77, handle(owner.handle), handle(NO)),
            (None, 38, handle(honk)),
            ("InvalidTransportationTypeHandle", 76, handle(honk), handle(NO)),
            ("InvalidLogicalTime", 65, handle(honk), b"", b"", fields(b"short")),
            (None, 40, handle(car), several(honk)),
            ("InvalidLogicalTime", 67, handle(honk), handle(body), b"", b"", fields(b"short")),
            ("InvalidLogicalTime", 69, handle(body), b"", fields(b"short")),
            (None, 56, "mine"),
            (None, 61, handle(car), "mine"),
            ("ObjectInstanceNameInUse", 61, handle(car), "mine"),
            ("FederateOwnsAttributes", 19, NO_ACTION),
            (None, 89, time(1)),
            *(("InvalidLogicalTime", n, handle(subject), values(member), b"", time(0.5))
              for n, subject, member in ((63, body, z), (65, honk, pitch))),
            ("InvalidLogicalTime", 67, handle(honk), handle(body), b"", b"", time(0.5)),
            ("InvalidLogicalTime", 69, handle(body), b"", time(0.5)),
        ])
        self.check(other, [
            ("ObjectClassNotPublished", 60, handle(car)),
            ("ObjectClassNotPublished", 61, handle(car), "free"),
            ("AttributeNotOwned", 62, handle(body), values(z)),
            *(("DeletePrivilegeNotHeld", n, handle(body), b"", time(1)) for n in (68, 69)),
            (None, 70, handle(body)),
        ])
        self.check(stranger, [
            ("ObjectInstanceNotKnown", 62, handle(body), values(z)),
            *(("ObjectInstanceNotKnown", n, handle(body), several(z)) for n in (68, 70, 71)),
        ])

    def test_ownership(self):
        owner, other, _, car, z, v, _, _, body = self.scene()
        of_owner = (78, 79, 80, 83, 84, 85)
        of_others = (81, 82, 86, 87)
        self.check(owner, [
            *(("ObjectInstanceNotKnown", n, handle(NO), several(z)) for n in (*of_owner, *of_others)),
            *(("AttributeNotDefined", n, handle(body), several(NO)) for n in (*of_owner, *of_others)),
            *(("AttributeNotOwned", n, handle(body), several(v)) for n in of_owner),
            ("ObjectInstanceNotKnown", 88, handle(NO), handle(z)),
            ("AttributeNotDefined", 88, handle(body), handle(NO)),
            *(("FederateOwnsAttributes", n, handle(body), several(z)) for n in (81, 82)),
            *(("AttributeDivestitureWasNotRequested", n, handle(body), several(z)) for n in (80, 85)),
            ("AttributeAlreadyOwned", 86, handle(body), several(z)),
            (None, 79, handle(body), several(z)),
            ("AttributeAlreadyBeingDivested", 79, handle(body), several(z)),
            ("NoAcquisitionPending", 80, handle(body), several(z)),
            (None, 85, handle(body), several(z)),
        ])
        self.check(other, [
            *(("ObjectClassNotPublished", n, handle(body), several(z)) for n in (81, 82)),
            (None, 35, handle(car), several(v)),
            *(("AttributeNotPublished", n, handle(body), several(z)) for n in (81, 82)),
            ("AttributeAcquisitionWasNotRequested", 86, handle(body), several(z)),
            (None, 35, handle(car), several(z)),
            (None, 81, handle(body), several(z)),
            ("AttributeAlreadyBeingAcquired", 82, handle(body), several(z)),
            ("OwnershipAcquisitionPending", 19, NO_ACTION),
            ("OwnershipAcquisitionPending", 36, handle(car)),
            ("OwnershipAcquisitionPending", 37, handle(car), several(z)),
            ("OwnershipAcquisitionPending", 70, handle(body)),
            (None, 19, CANCEL),
        ])

    def test_time(self):
        one, other, _, car, z, _, honk, _, body = self.scene()
        requests = (93, 94, 95, 96, 97)
        self.check(one, [
            *(("InvalidLogicalTime", n, fields(b"short")) for n in requests),
            *(("InvalidLogicalTime", n) for n in requests),
            *(("InvalidLookahead", n, fields(b"short")) for n in (89,)),
            ("InvalidLookahead", 89, time(-1)),
            ("TimeRegulationIsNotEnabled", 90),
            ("TimeConstrainedIsNotEnabled", 92),
            ("AsynchronousDeliveryAlreadyDisabled", 99),
            (None, 98),
            ("AsynchronousDeliveryAlreadyEnabled", 98),
            ("TimeRegulationIsNotEnabled", 103, time(1)),
            ("TimeRegulationIsNotEnabled", 104),
            ("TimeRegulationIsNotEnabled", 105, retraction(1)),
            ("ObjectInstanceNotKnown", 106, handle(NO), several(z), 1),
            ("AttributeNotDefined", 106, handle(body), several(NO), 1),
            ("ObjectClassNotDefined", 107, handle(NO), several(z), 1),
            ("AttributeNotDefined", 107, handle(car), several(NO), 1),
            ("InteractionClassNotDefined", 108, handle(NO), 1),
            ("InteractionClassNotPublished", 108, handle(honk), 1),
            (None, 89, time(1)),
            ("TimeRegulationAlreadyEnabled", 89, time(1)),
            ("InvalidLookahead", 103, time(-1)),
            ("InvalidMessageRetractionHandle", 105, retraction(77)),
            (None, 93, time(5)),
            *(("LogicalTimeAlreadyPassed", n, time(4)) for n in requests),
        ])
        self.check(other, [
            ("AttributeNotOwned", 106, handle(body), several(z), 1),
            (None, 93, time(20)),  # at once: it is not constrained
            (None, 91),  # waits until others have come so far
            ("RequestForTimeConstrainedPending", 91),
            *(("RequestForTimeConstrainedPending", n, time(30)) for n in requests),
        ])
        self.check(one, [(None, 93, time(20))])
        other.wait("timeConstrainedEnabled")
        self.check(other, [
            ("TimeConstrainedAlreadyEnabled", 91),
            (None, 93, time(50)),
            *(("InTimeAdvancingState", n, time(60)) for n in (89, *requests)),
            (None, 92),
        ])
        attribute, instance = (TYPES[kind](data=number.to_bytes(4, "big"))
                               for kind, number in (("AttributeHandle", z), ("ObjectInstanceHandle", body)))
        sent = one.call("UpdateAttributeValuesWithTime", objectInstance=instance, time=at(22),
                        attributeValues=one.values([(attribute, b"1")]))
        self.check(one, [
            (None, 93, time(40)),
            ("MessageCanNoLongerBeRetracted", 105, fields(sent.messageRetractionHandle.data)),
        ])

    def test_regulating_while_time_is_asked_for(self):
        one, other, third = self.scene()[:3]
        one.regulate(1)
        other.regulate(1)
        for federate in (one, third):
            federate.constrain()
            self.check(federate, [(None, 93, time(50))])
        self.check(one, [("InTimeAdvancingState", 103, time(2)), ("InTimeAdvancingState", 93, time(90))])
        self.check(third, [("InTimeAdvancingState", 89, time(1)), ("InTimeAdvancingState", 97, time(51))])

    def test_support(self):
        one, other, _, car, z, _, honk, pitch, body = self.scene()
        gone = self.member(self.one_rti, "gone")
        gone.call("ResignFederationExecution", resignAction=NO_ACTION)
        self.check(one, [
            *(("NameNotFound", n, "nothing") for n in (124, 126, 135, 145)),
            ("InvalidFederateHandle", 125, handle(NO)),
            ("FederateHandleNotKnown", 125, handle(gone.handle)),
            *(("InvalidObjectClassHandle", n, handle(NO)) for n in (127, 143, 153)),
            *(("ObjectInstanceNotKnown", n, handle(NO)) for n in (128, 130, 134)),
            ("ObjectInstanceNotKnown", 129, "nothing"),
            ("NameNotFound", 131, handle(car), "nothing"),
            ("InvalidObjectClassHandle", 131, handle(NO), "z"),
            ("InvalidObjectClassHandle", 132, handle(NO), handle(z)),
            ("InvalidAttributeHandle", 132, handle(car), handle(NO)),
            ("AttributeNotDefined", 132, handle(1), handle(z)),
            ("InvalidUpdateRateDesignator", 133, "nothing"),
            ("AttributeNotDefined", 134, handle(body), handle(NO)),
            *(("InvalidInteractionClassHandle", n, handle(NO)) for n in (136, 144, 154)),
            ("NameNotFound", 137, handle(honk), "nothing"),
            ("InvalidInteractionClassHandle", 137, handle(NO), "pitch"),
            ("InvalidInteractionClassHandle", 138, handle(NO), handle(pitch)),
            ("InvalidParameterHandle", 138, handle(honk), handle(NO)),
            ("InteractionParameterNotDefined", 138, handle(1), handle(pitch)),
            ("InvalidOrderName", 139, "nothing"),
            ("InvalidOrderType", 140, 7),
            ("InvalidTransportationName", 141, "nothing"),
            ("InvalidTransportationTypeHandle", 142, handle(NO)),
            *(("InvalidDimensionHandle", n, handle(NO)) for n in (146, 147)),
            ("InvalidServiceGroup", 151, 77),
            ("InvalidFederateHandle", 152, handle(NO)),
            ("InvalidObjectInstanceHandle", 155, handle(NO)),
            ("InvalidResignAction", 167, 77),
        ])


if __name__ == "__main__":
    unittest.main()
