/* SPDX-License-Identifier: MIT */
/* standard_mim.h - what every object model begins with, as a module of its own.
 *
 * Of the standard's MIM: the roots, the two kinds of transport, the basic data types and those made of them that FOMs name; of the management
 * object model (HLAmanager and below) what is served (hla/rti/mom.h). As this module comes first, its handles are the same in every model. */
#ifndef TT_HLA_FOM_STANDARD_MIM_H
#define TT_HLA_FOM_STANDARD_MIM_H

extern const char tt_fom_module_standard_mim[];

/* Attributes of HLAmanager.HLAfederate and of HLAmanager.HLAfederation, in the order of their handles: name, data type. */
#define TUTTI_MOM_FEDERATE_ATTRIBUTES(X)                                                                               \
    X(HLAfederateHandle, HLAhandle)                                                                                    \
    X(HLAfederateName, HLAunicodeString)                                                                               \
    X(HLAfederateType, HLAunicodeString)                                                                               \
    X(HLARTIversion, HLAunicodeString)                                                                                 \
    X(HLAtimeConstrained, HLAboolean)                                                                                  \
    X(HLAtimeRegulating, HLAboolean)                                                                                   \
    X(HLAasynchronousDelivery, HLAboolean)                                                                             \
    X(HLAlogicalTime, HLAlogicalTime)                                                                                  \
    X(HLAlookahead, HLAtimeInterval)
#define TUTTI_MOM_FEDERATION_ATTRIBUTES(X)                                                                             \
    X(HLAfederationName, HLAunicodeString)                                                                             \
    X(HLAfederatesInFederation, HLAhandleList)                                                                         \
    X(HLARTIversion, HLAunicodeString)                                                                                 \
    X(HLAMIMdesignator, HLAunicodeString)                                                                              \
    X(HLAFOMmoduleDesignatorList, HLAmoduleDesignatorList)                                                             \
    X(HLAtimeImplementationName, HLAunicodeString)                                                                     \
    X(HLAautoProvide, HLAswitch)

enum { TUTTI_MOM_MANAGER = 2, TUTTI_MOM_FEDERATE, TUTTI_MOM_FEDERATION }; /* object classes */
enum tt_mom_attribute {
    TUTTI_MOM_BEFORE = 1, /* the privilege to delete an object */
#define X(name, type) TUTTI_MOM_FEDERATE_##name,
    TUTTI_MOM_FEDERATE_ATTRIBUTES(X)
#undef X
#define X(name, type) TUTTI_MOM_FEDERATION_##name,
        TUTTI_MOM_FEDERATION_ATTRIBUTES(X)
#undef X
};

/* The interaction HLAmanager.HLAfederate.HLAreport.HLAreportFederateLost, and its parameters. */
enum { TUTTI_MOM_REPORT_FEDERATE_LOST = 5 };
enum tt_mom_parameter {
    TUTTI_MOM_LOST_FEDERATE = 1,
    TUTTI_MOM_LOST_NAME,
    TUTTI_MOM_LOST_TIME,
    TUTTI_MOM_LOST_FAULT,
};

#endif
