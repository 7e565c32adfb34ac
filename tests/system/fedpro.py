# SPDX-License-Identifier: MIT
"""A federate that speaks the HLA 4 Federate Protocol, written from the protocol and not from Tutti's code: sessions with resumption by hand,
messages by Google's own library for Protocol Buffers, from the table below."""
import base64
import hashlib
import os
import pathlib
import re
import resource
import signal
import socket
import struct
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from command import PATIENCE, TUTTI, CommandTest, wait_until
from fom import FOM  # noqa: F401 # for tests

# Messages: name, then fields as name:type, numbered from 1 on unless name=N:type. s text, b bytes, f bool, n number, d double, a message by
# its name; * before it: repeated.
MESSAGES = """
ExceptionData exceptionName:s details:s
RtiConfiguration configurationName:s rtiAddress:s additionalSettings:s
Credentials type:s data:b
ConfigurationResult configurationUsed:f addressUsed:f additionalSettingsResultCode:n message:s
FederateHandle data:b
ObjectClassHandle data:b
AttributeHandle data:b
InteractionClassHandle data:b
ParameterHandle data:b
ObjectInstanceHandle data:b
MessageRetractionHandle data:b
LogicalTime data:b
LogicalTimeInterval data:b
TransportationTypeHandle data:b
DimensionHandle data:b
MessageRetractionReturn retractionHandleIsValid:f messageRetractionHandle:MessageRetractionHandle
TimeQueryReturn logicalTimeIsValid:f logicalTime:LogicalTime
FederateHandleSet federateHandle:*FederateHandle
AttributeHandleSet attributeHandle:*AttributeHandle
InteractionClassHandleSet interactionClassHandle:*InteractionClassHandle
AttributeHandleValue attributeHandle:AttributeHandle value:b
AttributeHandleValueMap attributeHandleValue:*AttributeHandleValue
ParameterHandleValue parameterHandle:ParameterHandle value:b
ParameterHandleValueMap parameterHandleValue:*ParameterHandleValue
FileFomModule name:s content:b
FomModule file:FileFomModule compressedModule:b url:s
FomModuleSet fomModule:*FomModule
JoinResult federateHandle:FederateHandle logicalTimeImplementationName:s
FederationExecutionInformation federationExecutionName:s logicalTimeImplementationName:s
FederationExecutionInformationSet federationExecutionInformation:*FederationExecutionInformation
FederationExecutionMemberInformation federateName:s federateType:s
FederationExecutionMemberInformationSet federationExecutionMemberInformation:*FederationExecutionMemberInformation
"""

# Calls: number of the request (the response has the next one), name, fields of the request, ->, fields of the response.
CALLS = """
1 Connect -> configurationResult:ConfigurationResult
2 ConnectWithCredentials credentials:Credentials -> configurationResult:ConfigurationResult
3 ConnectWithConfiguration rtiConfiguration:RtiConfiguration -> configurationResult:ConfigurationResult
4 ConnectWithConfigurationAndCredentials rtiConfiguration:RtiConfiguration credentials:Credentials -> configurationResult:ConfigurationResult
5 Disconnect ->
6 CreateFederationExecution federationName:s fomModule:FomModule ->
9 CreateFederationExecutionWithModulesAndTime federationName:s fomModules:FomModuleSet logicalTimeImplementationName:s ->
10 CreateFederationExecutionWithMIM federationName:s fomModules:FomModuleSet mimModule:FomModule ->
12 DestroyFederationExecution federationName:s ->
13 ListFederationExecutions ->
14 ListFederationExecutionMembers federationName:s ->
15 JoinFederationExecution federateType:s federationName:s -> result:JoinResult
18 JoinFederationExecutionWithNameAndModules federateName:s federateType:s federationName:s additionalFomModules:FomModuleSet -> result:JoinResult
19 ResignFederationExecution resignAction:n ->
20 RegisterFederationSynchronizationPoint synchronizationPointLabel:s userSuppliedTag:b ->
22 SynchronizationPointAchieved synchronizationPointLabel:s successfully:f ->
23 RequestFederationSave label:s ->
35 PublishObjectClassAttributes objectClass:ObjectClassHandle attributes:AttributeHandleSet ->
38 PublishInteractionClass interactionClass:InteractionClassHandle ->
43 SubscribeObjectClassAttributes objectClass:ObjectClassHandle attributes:AttributeHandleSet ->
48 UnsubscribeObjectClassAttributes objectClass:ObjectClassHandle attributes:AttributeHandleSet ->
49 SubscribeInteractionClass interactionClass:InteractionClassHandle ->
56 ReserveObjectInstanceName objectInstanceName:s ->
58 ReserveMultipleObjectInstanceNames objectInstanceNames:*s ->
60 RegisterObjectInstance objectClass:ObjectClassHandle -> result:ObjectInstanceHandle
61 RegisterObjectInstanceWithName objectClass:ObjectClassHandle objectInstanceName:s -> result:ObjectInstanceHandle
62 UpdateAttributeValues objectInstance:ObjectInstanceHandle attributeValues:AttributeHandleValueMap userSuppliedTag:b ->
63 UpdateAttributeValuesWithTime objectInstance:ObjectInstanceHandle attributeValues:AttributeHandleValueMap userSuppliedTag:b time:LogicalTime -> result:MessageRetractionReturn
64 SendInteraction interactionClass:InteractionClassHandle parameterValues:ParameterHandleValueMap userSuppliedTag:b ->
65 SendInteractionWithTime interactionClass:InteractionClassHandle parameterValues:ParameterHandleValueMap userSuppliedTag:b time:LogicalTime -> result:MessageRetractionReturn
68 DeleteObjectInstance objectInstance:ObjectInstanceHandle userSuppliedTag:b ->
71 RequestInstanceAttributeValueUpdate objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet userSuppliedTag:b ->
73 RequestAttributeTransportationTypeChange objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet transportationType:TransportationTypeHandle ->
74 ChangeDefaultAttributeTransportationType objectClass:ObjectClassHandle attributes:AttributeHandleSet transportationType:TransportationTypeHandle ->
75 QueryAttributeTransportationType objectInstance:ObjectInstanceHandle attribute:AttributeHandle ->
76 RequestInteractionTransportationTypeChange interactionClass:InteractionClassHandle transportationType:TransportationTypeHandle ->
77 QueryInteractionTransportationType federate:FederateHandle interactionClass:InteractionClassHandle ->
82 AttributeOwnershipAcquisitionIfAvailable objectInstance:ObjectInstanceHandle desiredAttributes:AttributeHandleSet userSuppliedTag:b ->
78 UnconditionalAttributeOwnershipDivestiture objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet userSuppliedTag:b ->
87 QueryAttributeOwnership objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet ->
88 IsAttributeOwnedByFederate objectInstance:ObjectInstanceHandle attribute:AttributeHandle -> result:f
89 EnableTimeRegulation lookahead:LogicalTimeInterval ->
91 EnableTimeConstrained ->
93 TimeAdvanceRequest time:LogicalTime ->
94 TimeAdvanceRequestAvailable time:LogicalTime ->
95 NextMessageRequest time:LogicalTime ->
96 NextMessageRequestAvailable time:LogicalTime ->
97 FlushQueueRequest time:LogicalTime ->
100 QueryGALT -> result:TimeQueryReturn
101 QueryLogicalTime -> result:LogicalTime
103 ModifyLookahead lookahead:LogicalTimeInterval ->
104 QueryLookahead -> result:LogicalTimeInterval
105 Retract retraction:MessageRetractionHandle ->
109 CreateRegion ->
124 GetFederateHandle federateName:s -> result:FederateHandle
125 GetFederateName federate:FederateHandle -> result:s
126 GetObjectClassHandle objectClassName:s -> result:ObjectClassHandle
127 GetObjectClassName objectClass:ObjectClassHandle -> result:s
130 GetObjectInstanceName objectInstance:ObjectInstanceHandle -> result:s
131 GetAttributeHandle objectClass:ObjectClassHandle attributeName:s -> result:AttributeHandle
132 GetAttributeName objectClass:ObjectClassHandle attribute:AttributeHandle -> result:s
135 GetInteractionClassHandle interactionClassName:s -> result:InteractionClassHandle
137 GetParameterHandle interactionClass:InteractionClassHandle parameterName:s -> result:ParameterHandle
139 GetOrderType orderTypeName:s -> result:n
140 GetOrderName orderType:n -> result:s
141 GetTransportationTypeHandle transportationTypeName:s -> result:TransportationTypeHandle
151 NormalizeServiceGroup serviceGroup:n -> result:n
166 GetAutomaticResignDirective -> result:n
167 SetAutomaticResignDirective value:n ->
178 GetNonRegulatedGrantSwitch -> result:f
"""

# Callbacks: number, name, fields.
RECEIVED = "userSuppliedTag:b transportationType:TransportationTypeHandle producingFederate:FederateHandle"
TIMED = "time=7:LogicalTime sentOrderType:n receivedOrderType:n optionalRetraction:MessageRetractionHandle"
CALLBACKS = f"""
1 ConnectionLost faultDescription:s
2 ReportFederationExecutions report:FederationExecutionInformationSet
3 ReportFederationExecutionMembers federationName:s report:FederationExecutionMemberInformationSet
5 FederateResigned reasonForResignDescription:s
6 SynchronizationPointRegistrationSucceeded synchronizationPointLabel:s
8 AnnounceSynchronizationPoint synchronizationPointLabel:s userSuppliedTag:b
9 FederationSynchronized synchronizationPointLabel:s failedToSyncSet:FederateHandleSet
22 StartRegistrationForObjectClass objectClass:ObjectClassHandle
24 TurnInteractionsOn interactionClass:InteractionClassHandle
26 ObjectInstanceNameReservationSucceeded objectInstanceName:s
27 ObjectInstanceNameReservationFailed objectInstanceName:s
28 MultipleObjectInstanceNameReservationSucceeded objectInstanceNames:*s
30 DiscoverObjectInstance objectInstance:ObjectInstanceHandle objectClass:ObjectClassHandle objectInstanceName:s producingFederate:FederateHandle
31 ReflectAttributeValues objectInstance:ObjectInstanceHandle attributeValues:AttributeHandleValueMap {RECEIVED}
32 ReflectAttributeValuesWithTime objectInstance:ObjectInstanceHandle attributeValues:AttributeHandleValueMap {RECEIVED} {TIMED}
33 ReceiveInteraction interactionClass:InteractionClassHandle parameterValues:ParameterHandleValueMap {RECEIVED}
34 ReceiveInteractionWithTime interactionClass:InteractionClassHandle parameterValues:ParameterHandleValueMap {RECEIVED} {TIMED}
37 RemoveObjectInstance objectInstance:ObjectInstanceHandle userSuppliedTag:b producingFederate:FederateHandle
41 ProvideAttributeValueUpdate objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet userSuppliedTag:b
45 ConfirmAttributeTransportationTypeChange objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet transportationType:TransportationTypeHandle
46 ReportAttributeTransportationType objectInstance:ObjectInstanceHandle attribute:AttributeHandle transportationType:TransportationTypeHandle
47 ConfirmInteractionTransportationTypeChange interactionClass:InteractionClassHandle transportationType:TransportationTypeHandle
48 ReportInteractionTransportationType federate:FederateHandle interactionClass:InteractionClassHandle transportationType:TransportationTypeHandle
49 RequestAttributeOwnershipAssumption objectInstance:ObjectInstanceHandle offeredAttributes:AttributeHandleSet userSuppliedTag:b
51 AttributeOwnershipAcquisitionNotification objectInstance:ObjectInstanceHandle securedAttributes:AttributeHandleSet userSuppliedTag:b
52 AttributeOwnershipUnavailable objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet userSuppliedTag:b
55 InformAttributeOwnership objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet federate:FederateHandle
56 AttributeIsNotOwned objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet
57 AttributeIsOwnedByRTI objectInstance:ObjectInstanceHandle attributes:AttributeHandleSet
58 TimeRegulationEnabled time:LogicalTime
59 TimeConstrainedEnabled time:LogicalTime
60 FlushQueueGrant time:LogicalTime optimisticTime:LogicalTime
61 TimeAdvanceGrant time:LogicalTime
62 RequestRetraction retraction:MessageRetractionHandle
"""

KINDS = {"s": 9, "b": 12, "f": 8, "n": 13, "d": 1}
PACKAGE = "rti1516_2025.fedpro"


def _add_fields(message, fields):
    number = 0
    for field in fields:
        name, kind = field.split(":")
        name, _, given = name.partition("=")
        number = int(given) if given else number + 1
        added = message.field.add(name=name, number=number, label=3 if kind[0] == "*" else 1)
        kind = kind.lstrip("*")
        if kind in KINDS:
            added.type = KINDS[kind]
        else:
            added.type, added.type_name = 11, f".{PACKAGE}.{kind}"


def _one_of(file, name, fields):
    message = file.message_type.add(name=name)
    message.oneof_decl.add(name="choice")
    for number, kind in fields:
        message.field.add(name=kind[0].lower() + kind[1:], number=number, label=1, type=11, type_name=f".{PACKAGE}.{kind}",
                          oneof_index=0)


def _build():
    file = descriptor_pb2.FileDescriptorProto(name="fedpro.proto", package=PACKAGE, syntax="proto3")
    for line in MESSAGES.split("\n"):
        if line:
            name, *fields = line.split(" ")
            _add_fields(file.message_type.add(name=name), fields)
    requests, responses, callbacks = [], [(1, "ExceptionData")], []
    for line in CALLS.strip().split("\n"):
        request, _, response = line.partition("->")
        number, name, *fields = request.split()
        _add_fields(file.message_type.add(name=name + "Request"), fields)
        _add_fields(file.message_type.add(name=name + "Response"), response.split())
        requests.append((int(number), name + "Request"))
        responses.append((int(number) + 1, name + "Response"))
    for line in CALLBACKS.strip().split("\n"):
        number, name, *fields = line.split()
        _add_fields(file.message_type.add(name=name), fields)
        callbacks.append((int(number), name))
    file.message_type.add(name="CallbackSucceeded")
    _one_of(file, "CallRequest", requests)
    _one_of(file, "CallResponse", responses)
    _one_of(file, "CallbackRequest", callbacks)
    _one_of(file, "CallbackResponse", [(1, "CallbackSucceeded"), (2, "ExceptionData")])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    if hasattr(message_factory, "GetMessageClass"):  # of later versions
        class_of = message_factory.GetMessageClass
    else:
        class_of = message_factory.MessageFactory(pool).GetPrototype
    return {message.name: class_of(pool.FindMessageTypeByName(f"{PACKAGE}.{message.name}")) for message in file.message_type}


TYPES = _build()
NEW_SESSION, NEW_STATUS, HEARTBEAT, HEARTBEAT_RESPONSE, TERMINATE, TERMINATED = range(1, 7)
RESUME, RESUME_STATUS = 10, 11
CALL, CALL_RESPONSE, CALLBACK, CALLBACK_RESPONSE = range(20, 24)
NONE = -2**31
HEADER = struct.Struct(">IiQiI")


def pack(kind, sequence, session, last, payload=b""):
    return HEADER.pack(HEADER.size + len(payload), sequence, session, last, kind) + payload


def handle(name, data):
    return TYPES[name](data=data)


def real(value):
    """HLAfloat64BE, and a time of HLAfloat64Time."""
    return struct.pack(">d", value)


def at(value):
    return TYPES["LogicalTime"](data=real(value))


def for_(value):
    return TYPES["LogicalTimeInterval"](data=real(value))


def unreal(data):
    return struct.unpack(">d", data)[0]


class HlaError(Exception):
    """An exception of HLA that the RTI answered a call with."""

    def __init__(self, name, details):
        super().__init__(f"{name}: {details}")
        self.name, self.details = name, details


class Ended(Exception):
    """The connection was closed."""


class WebSocket:
    """A client's end of a WebSocket, with the same methods as a socket."""

    def __init__(self, sock, host):
        self.sock, self.bytes, self.raw = sock, b"", b""
        key = base64.b64encode(os.urandom(16)).decode()
        sock.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                     "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.raw:
            self._more()
        head, _, self.raw = self.raw.partition(b"\r\n\r\n")
        wanted = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        assert b" 101 " in head.split(b"\r\n")[0] and wanted in head, head

    def _more(self):
        got = self.sock.recv(65536)
        if not got:
            raise Ended
        self.raw += got

    def _frame(self, code, payload):
        mask = os.urandom(4)
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else bytes([0xfe]) + struct.pack(">H", size) if size < 65536 \
            else bytes([0xff]) + struct.pack(">Q", size)
        self.sock.sendall(bytes([0x80 | code]) + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def sendall(self, payload):
        self._frame(2, payload)

    def recv(self, most):
        while not self.bytes:
            while len(self.raw) < 2:
                self._more()
            code, size, begin = self.raw[0] & 15, self.raw[1] & 127, 2
            extra = {126: 2, 127: 8}.get(size, 0)
            while len(self.raw) < begin + extra:
                self._more()
            if extra:
                size = int.from_bytes(self.raw[2:2 + extra], "big")
                begin += extra
            while len(self.raw) < begin + size:
                self._more()
            payload, self.raw = self.raw[begin:begin + size], self.raw[begin + size:]
            if code == 8:
                return b""
            if code == 9:
                self._frame(10, payload)
            elif code in (0, 1, 2):
                self.bytes = payload
        got, self.bytes = self.bytes[:most], self.bytes[most:]
        return got

    def settimeout(self, seconds):
        self.sock.settimeout(seconds)

    def close(self):
        self.sock.close()


class Federate:
    """A session with an RTI, and what a federate does with it."""

    def __init__(self, test, address, *, key=None, dial=None, connect=True):
        self.test, self.address = test, address
        self.dial = dial or self.dial_tcp
        self.session, self.sequence, self.last = 0, 0, NONE
        self.history, self.responses, self.callbacks, self.replays = [], {}, [], 0
        self.received_sequences = []
        self.sock = self.dial()
        test.addCleanup(self.close)
        self.sock.sendall(pack(NEW_SESSION, 0, 0, NONE, struct.pack(">i", 1)))
        header, payload = self.read()
        test.assertEqual(header[4], NEW_STATUS)
        test.assertEqual(struct.unpack(">i", payload)[0], 0)
        self.session, self.sequence = header[2], 1
        if connect and key is None:
            self.call("Connect")
        elif connect:
            self.call("ConnectWithCredentials", credentials=TYPES["Credentials"](
                type="HLAplainTextPassword", data=struct.pack(">I", len(key)) + key.encode("utf-16-be")))

    def dial_tcp(self):
        host, _, port = self.address.rpartition(":")
        sock = socket.create_connection((host, int(port)), timeout=PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def close(self):
        self.sock.close()

    # ---- the session ----

    def read_bytes(self, size):
        data = b""
        while len(data) < size:
            try:
                got = self.sock.recv(size - len(data))
            except ConnectionError:
                got = b""
            if not got:
                raise Ended
            data += got
        return data

    def read(self):
        header = HEADER.unpack(self.read_bytes(HEADER.size))
        return header, self.read_bytes(header[0] - HEADER.size)

    def send(self, kind, payload=b""):
        message = pack(kind, self.sequence, self.session, self.last, payload)
        if kind >= CALL:
            self.history.append((self.sequence, message))
        self.sequence += 1
        try:
            self.sock.sendall(message)
        except OSError:
            pass  # it will be sent again
        return self.sequence - 1

    def take(self):
        """Handles one message of the RTI."""
        (_, sequence, session, _, kind), payload = self.read()
        self.test.assertEqual(session, self.session)
        self.test.assertGreaterEqual(sequence, 0)
        if kind >= CALL:
            self.test.assertGreater(sequence, self.last, "a message came twice")
            self.last = sequence
            self.received_sequences.append(sequence)
        if kind == CALL_RESPONSE:
            self.responses[struct.unpack(">i", payload[:4])[0]] = TYPES["CallResponse"].FromString(payload[4:])
        elif kind == CALLBACK:
            callback = TYPES["CallbackRequest"].FromString(payload)
            which = callback.WhichOneof("choice")
            self.callbacks.append((which, getattr(callback, which)))
            self.send(CALLBACK_RESPONSE, struct.pack(">i", sequence) + b"\x0a\x00")
        return kind

    def cut(self):
        self.sock.close()

    def resume(self, expected=0):
        """Comes back on a new connection."""
        self.sock.close()
        self.sock = self.dial()
        oldest = self.history[0][0] if self.history else NONE
        self.sock.sendall(pack(RESUME, NONE, self.session, self.last, struct.pack(">ii", self.last, oldest)))
        header, payload = self.read()
        status, last = struct.unpack(">ii", payload)
        self.test.assertEqual((header[4], status), (RESUME_STATUS, expected))
        if status == 0:
            for sequence, message in self.history:
                if sequence > last:
                    self.replays += 1
                    self.sock.sendall(message)

    def heartbeat(self):
        self.send(HEARTBEAT)
        while self.take() != HEARTBEAT_RESPONSE:
            pass

    def terminate(self):
        self.send(TERMINATE)
        while self.take() != TERMINATED:
            pass

    # ---- calls and callbacks ----

    def begin(self, name, **fields):
        request = TYPES["CallRequest"]()
        getattr(request, name[0].lower() + name[1:] + "Request").CopyFrom(TYPES[name + "Request"](**fields))
        return self.send(CALL, request.SerializeToString())

    def end(self, number):
        while number not in self.responses:
            self.take()
        response = self.responses.pop(number)
        which = response.WhichOneof("choice")
        answer = getattr(response, which)
        if which == "exceptionData":
            raise HlaError(answer.exceptionName, answer.details)
        return answer.result if "result" in answer.DESCRIPTOR.fields_by_name else answer

    def call(self, name, **fields):
        return self.end(self.begin(name, **fields))

    def fails(self, exception, name, **fields):
        """The call fails by this exception; returns its words."""
        try:
            self.call(name, **fields)
        except HlaError as error:
            self.test.assertEqual(error.name, exception, error.details)
            return error.details
        return self.test.fail(f"{name} did not fail by {exception}")

    def wait(self, name):
        """The next callback of this name; those before it stay."""
        while True:
            for i, (which, callback) in enumerate(self.callbacks):
                if which == name:
                    del self.callbacks[i]
                    return callback
            self.take()

    def seen(self):
        """All callbacks that came, by name, up to what was sent before now."""
        self.heartbeat()
        seen, self.callbacks = self.callbacks, []
        return seen

    # ---- shorter ----

    def join(self, federation, name, *, fom=None):
        if fom is not None:
            try:
                self.call("CreateFederationExecution", federationName=federation,
                          fomModule=TYPES["FomModule"](file=TYPES["FileFomModule"](name="test.xml", content=fom.encode())))
            except HlaError as error:
                self.test.assertEqual(error.name, "FederationExecutionAlreadyExists")
        return self.call("JoinFederationExecutionWithNameAndModules", federateName=name, federateType="test",
                         federationName=federation)

    def object_class(self, name, *attributes):
        found = self.call("GetObjectClassHandle", objectClassName=name)
        handles = [self.call("GetAttributeHandle", objectClass=found, attributeName=a) for a in attributes]
        return found, handles

    def set_of(self, attributes):
        return TYPES["AttributeHandleSet"](attributeHandle=attributes)

    def publish(self, name, *attributes):
        found, handles = self.object_class(name, *attributes)
        self.call("PublishObjectClassAttributes", objectClass=found, attributes=self.set_of(handles))
        return found, handles

    def subscribe(self, name, *attributes):
        found, handles = self.object_class(name, *attributes)
        self.call("SubscribeObjectClassAttributes", objectClass=found, attributes=self.set_of(handles))
        return found, handles

    def values(self, pairs):
        return TYPES["AttributeHandleValueMap"](attributeHandleValue=[
            TYPES["AttributeHandleValue"](attributeHandle=a, value=v) for a, v in pairs])

    def regulate(self, lookahead):
        self.call("EnableTimeRegulation", lookahead=for_(lookahead))
        self.wait("timeRegulationEnabled")

    def constrain(self):
        self.call("EnableTimeConstrained")
        self.wait("timeConstrainedEnabled")

    def advance(self, how, time_):
        self.call(how, time=at(time_))

    def granted(self):
        return unreal(self.wait("timeAdvanceGrant").time.data)


class Rti:
    """A `tutti rti` that listens."""

    def __init__(self, test, *options, listen="127.0.0.1:0", files=None):
        self.test, self.ended = test, False
        with tempfile.NamedTemporaryFile(dir=test.folder, prefix="rti", suffix=".log", delete=False) as log:
            self.log = pathlib.Path(log.name)
            self.process = test.spawn([TUTTI, "rti", "--listen", listen, *options], stdout=log, stderr=log)
            if files:  # at most so many descriptors
                resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (files, files))
        test.addCleanup(self.end)
        test.assertTrue(wait_until(lambda: "listening at" in self.text() or self.process.poll() is not None), self.text())
        test.assertIsNone(self.process.poll(), self.text())
        self.address = re.search(r"listening at (\S+)", self.text())[1].rstrip('",')

    def text(self):
        return self.log.read_text("utf-8", "replace")

    def end(self, number=signal.SIGTERM):
        if self.ended:
            return
        self.ended = True
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        self.test.assertNotIn("Sanitizer", self.text())
        self.test.assertNotIn("runtime error:", self.text())
        if number == signal.SIGTERM:
            self.test.assertEqual(status, 0, self.text())


class RtiTest(CommandTest):
    """A test with an RTI."""

    def rti(self, *options, **more):
        return Rti(self, *options, **more)

    def federate(self, rti, **more):
        return Federate(self, rti.address, **more)

