/* SPDX-License-Identifier: MIT */
#include "hla/fom/standard_mim.h"

#define BASIC(name, size, endian)                                                                                      \
    "<basicData><name>" #name "</name><size>" #size "</size><endian>" #endian "</endian></basicData>"
#define SIMPLE(name, representation)                                                                                   \
    "<simpleData><name>" #name "</name><representation>" #representation "</representation></simpleData>"
#define ARRAY(name, type, cardinality, encoding)                                                                       \
    "<arrayData><name>" #name "</name><dataType>" #type "</dataType><cardinality>" #cardinality                        \
    "</cardinality><encoding>" #encoding "</encoding></arrayData>"

#define ATTRIBUTE(name, type)                                                                                          \
    "<attribute><name>" #name "</name><dataType>" #type                                                                \
    "</dataType><transportation>HLAreliable</transportation><order>Receive</order></attribute>"
#define PARAMETER(name, type) "<parameter><name>" #name "</name><dataType>" #type "</dataType></parameter>"
#define RECEIVE "<transportation>HLAreliable</transportation><order>Receive</order>"

/* One element to a line. */
/* clang-format off */
const char tt_fom_module_standard_mim[] =
    "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">"
    "<objects><objectClass><name>HLAobjectRoot</name>"
    "<attribute><name>HLAprivilegeToDeleteObject</name><dataType>HLAtoken</dataType>"
    "<transportation>HLAreliable</transportation><order>TimeStamp</order></attribute>"
    "<objectClass><name>HLAmanager</name>"
    "<objectClass><name>HLAfederate</name>" TUTTI_MOM_FEDERATE_ATTRIBUTES(ATTRIBUTE) "</objectClass>"
    "<objectClass><name>HLAfederation</name>" TUTTI_MOM_FEDERATION_ATTRIBUTES(ATTRIBUTE) "</objectClass>"
    "</objectClass></objectClass></objects>"
    "<interactions><interactionClass><name>HLAinteractionRoot</name>"
    "<transportation>HLAreliable</transportation><order>TimeStamp</order>"
    "<interactionClass><name>HLAmanager</name>" RECEIVE
    "<interactionClass><name>HLAfederate</name>" RECEIVE PARAMETER(HLAfederate, HLAhandle)
    "<interactionClass><name>HLAreport</name>" RECEIVE
    "<interactionClass><name>HLAreportFederateLost</name>" RECEIVE
    PARAMETER(HLAfederateName, HLAunicodeString)
    PARAMETER(HLAtimestamp, HLAlogicalTime)
    PARAMETER(HLAfaultDescription, HLAunicodeString)
    "</interactionClass></interactionClass></interactionClass></interactionClass></interactionClass></interactions>"
    "<transportations>"
    "<transportation><name>HLAreliable</name><reliable>Yes</reliable></transportation>"
    "<transportation><name>HLAbestEffort</name><reliable>No</reliable></transportation>"
    "</transportations>"
    "<dataTypes><basicDataRepresentations>"
    BASIC(HLAinteger16BE, 16, Big)
    BASIC(HLAinteger16LE, 16, Little)
    BASIC(HLAinteger32BE, 32, Big)
    BASIC(HLAinteger32LE, 32, Little)
    BASIC(HLAinteger64BE, 64, Big)
    BASIC(HLAinteger64LE, 64, Little)
    BASIC(HLAunsignedInteger16BE, 16, Big)
    BASIC(HLAunsignedInteger16LE, 16, Little)
    BASIC(HLAunsignedInteger32BE, 32, Big)
    BASIC(HLAunsignedInteger32LE, 32, Little)
    BASIC(HLAunsignedInteger64BE, 64, Big)
    BASIC(HLAunsignedInteger64LE, 64, Little)
    BASIC(HLAfloat32BE, 32, Big)
    BASIC(HLAfloat32LE, 32, Little)
    BASIC(HLAfloat64BE, 64, Big)
    BASIC(HLAfloat64LE, 64, Little)
    BASIC(HLAoctetPairBE, 16, Big)
    BASIC(HLAoctetPairLE, 16, Little)
    BASIC(HLAoctet, 8, Big)
    "</basicDataRepresentations><simpleDataTypes>"
    SIMPLE(HLAASCIIchar, HLAoctet)
    SIMPLE(HLAunicodeChar, HLAoctetPairBE)
    SIMPLE(HLAbyte, HLAoctet)
    SIMPLE(HLAinteger64Time, HLAinteger64BE)
    SIMPLE(HLAfloat64Time, HLAfloat64BE)
    "</simpleDataTypes><enumeratedDataTypes>"
    "<enumeratedData><name>HLAboolean</name><representation>HLAinteger32BE</representation>"
    "<enumerator><name>HLAfalse</name><value>0</value></enumerator>"
    "<enumerator><name>HLAtrue</name><value>1</value></enumerator></enumeratedData>"
    "<enumeratedData><name>HLAswitch</name><representation>HLAinteger32BE</representation>"
    "<enumerator><name>Enabled</name><value>1</value></enumerator>"
    "<enumerator><name>Disabled</name><value>0</value></enumerator></enumeratedData>"
    "</enumeratedDataTypes><arrayDataTypes>"
    ARRAY(HLAASCIIstring, HLAASCIIchar, Dynamic, HLAvariableArray)
    ARRAY(HLAunicodeString, HLAunicodeChar, Dynamic, HLAvariableArray)
    ARRAY(HLAopaqueData, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAtoken, HLAbyte, 0, HLAfixedArray)
    ARRAY(HLAhandle, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAhandleList, HLAhandle, Dynamic, HLAvariableArray)
    ARRAY(HLAlogicalTime, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAtimeInterval, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAmoduleDesignatorList, HLAunicodeString, Dynamic, HLAvariableArray)
    "</arrayDataTypes></dataTypes>"
    "</objectModel>";
/* clang-format on */
