# SPDX-License-Identifier: MIT
"""A FOM module for tests: cars with two attributes, one of each order, and an interaction."""
FOM = """<?xml version="1.0" encoding="UTF-8"?>
<objectModel xmlns="http://standards.ieee.org/IEEE1516-2010">
  <modelIdentification><name>Test</name><type>FOM</type><version>1</version></modelIdentification>
  <objects><objectClass><name>HLAobjectRoot</name>
    <objectClass><name>Car</name><sharing>PublishSubscribe</sharing>
      <attribute><name>z</name><dataType>HLAfloat64BE</dataType><updateType>Periodic</updateType><ownership>DivestAcquire</ownership>
        <sharing>PublishSubscribe</sharing><transportation>HLAreliable</transportation><order>TimeStamp</order></attribute>
      <attribute><name>v</name><dataType>HLAfloat64BE</dataType><updateType>Periodic</updateType><ownership>DivestAcquire</ownership>
        <sharing>PublishSubscribe</sharing><transportation>HLAreliable</transportation><order>Receive</order></attribute>
    </objectClass></objectClass></objects>
  <interactions><interactionClass><name>HLAinteractionRoot</name>
    <interactionClass><name>Honk</name><sharing>PublishSubscribe</sharing><transportation>HLAreliable</transportation>
      <order>TimeStamp</order><parameter><name>pitch</name><dataType>HLAfloat64BE</dataType></parameter></interactionClass>
    </interactionClass></interactions>
  <dataTypes/>
</objectModel>
"""
