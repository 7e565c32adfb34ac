/* SPDX-License-Identifier: MIT */
/* exception.h - how the services of the RTI fail: by the exceptions of HLA, each with its standard name.
 *
 * A service returns 0 or an exception; this thread's message (tutti_err_message) has the details. A failed service has
 * changed nothing, unless memory is out (RTIinternalError). */
#ifndef TT_HLA_RTI_EXCEPTION_H
#define TT_HLA_RTI_EXCEPTION_H

#include "base/fail.h"

/* The names of IEEE 1516.1-2025 that the core or a server in front of it raises. */
#define TUTTI_HLA_EXCEPTIONS(X)                                                                                        \
    X(AlreadyConnected)                                                                                                \
    X(AsynchronousDeliveryAlreadyDisabled)                                                                             \
    X(AsynchronousDeliveryAlreadyEnabled)                                                                              \
    X(AttributeAcquisitionWasNotRequested)                                                                             \
    X(AttributeAlreadyBeingAcquired)                                                                                   \
    X(AttributeAlreadyBeingDivested)                                                                                   \
    X(AttributeAlreadyOwned)                                                                                           \
    X(AttributeDivestitureWasNotRequested)                                                                             \
    X(AttributeNotDefined)                                                                                             \
    X(AttributeNotOwned)                                                                                               \
    X(AttributeNotPublished)                                                                                           \
    X(CouldNotCreateLogicalTimeFactory)                                                                                \
    X(CouldNotOpenFOM)                                                                                                 \
    X(CouldNotOpenMIM)                                                                                                 \
    X(DeletePrivilegeNotHeld)                                                                                          \
    X(DesignatorIsHLAstandardMIM)                                                                                      \
    X(ErrorReadingFOM)                                                                                                 \
    X(ErrorReadingMIM)                                                                                                 \
    X(FederateAlreadyExecutionMember)                                                                                  \
    X(FederateHandleNotKnown)                                                                                          \
    X(FederateIsExecutionMember)                                                                                       \
    X(FederateNameAlreadyInUse)                                                                                        \
    X(FederateNotExecutionMember)                                                                                      \
    X(FederateOwnsAttributes)                                                                                          \
    X(FederatesCurrentlyJoined)                                                                                        \
    X(FederationExecutionAlreadyExists)                                                                                \
    X(FederationExecutionDoesNotExist)                                                                                 \
    X(IllegalName)                                                                                                     \
    X(InTimeAdvancingState)                                                                                            \
    X(InconsistentFOM)                                                                                                 \
    X(InteractionClassNotDefined)                                                                                      \
    X(InteractionClassNotPublished)                                                                                    \
    X(InteractionParameterNotDefined)                                                                                  \
    X(InvalidAttributeHandle)                                                                                          \
    X(InvalidCredentials)                                                                                              \
    X(InvalidDimensionHandle)                                                                                          \
    X(InvalidFOM)                                                                                                      \
    X(InvalidFederateHandle)                                                                                           \
    X(InvalidInteractionClassHandle)                                                                                   \
    X(InvalidLogicalTime)                                                                                              \
    X(InvalidLookahead)                                                                                                \
    X(InvalidMessageRetractionHandle)                                                                                  \
    X(InvalidObjectClassHandle)                                                                                        \
    X(InvalidObjectInstanceHandle)                                                                                     \
    X(InvalidOrderName)                                                                                                \
    X(InvalidOrderType)                                                                                                \
    X(InvalidParameterHandle)                                                                                          \
    X(InvalidResignAction)                                                                                             \
    X(InvalidServiceGroup)                                                                                             \
    X(InvalidTransportationName)                                                                                       \
    X(InvalidTransportationTypeHandle)                                                                                 \
    X(InvalidUpdateRateDesignator)                                                                                     \
    X(LogicalTimeAlreadyPassed)                                                                                        \
    X(MessageCanNoLongerBeRetracted)                                                                                   \
    X(NameNotFound)                                                                                                    \
    X(NameSetWasEmpty)                                                                                                 \
    X(NoAcquisitionPending)                                                                                            \
    X(NotConnected)                                                                                                    \
    X(ObjectClassNotDefined)                                                                                           \
    X(ObjectClassNotPublished)                                                                                         \
    X(ObjectInstanceNameInUse)                                                                                         \
    X(ObjectInstanceNameNotReserved)                                                                                   \
    X(ObjectInstanceNotKnown)                                                                                          \
    X(OwnershipAcquisitionPending)                                                                                     \
    X(RTIinternalError)                                                                                                \
    X(RequestForTimeConstrainedPending)                                                                                \
    X(RequestForTimeRegulationPending)                                                                                 \
    X(SynchronizationPointLabelNotAnnounced)                                                                           \
    X(TimeConstrainedAlreadyEnabled)                                                                                   \
    X(TimeConstrainedIsNotEnabled)                                                                                     \
    X(TimeRegulationAlreadyEnabled)                                                                                    \
    X(TimeRegulationIsNotEnabled)                                                                                      \
    X(Unauthorized)

enum tt_hla {
    TUTTI_HLA_OK,
#define X(name) TUTTI_HLA_##name,
    TUTTI_HLA_EXCEPTIONS(X)
#undef X
};

/* "InvalidLookahead"; "" for TUTTI_HLA_OK. Static. */
const char *tt_exception_name(enum tt_hla exception);

/* Writes this thread's message. RAISE(InvalidLookahead, "...") also is the exception. */
void tt_exception_set_message(const char *format, ...) TUTTI_PRINTF(1, 2);
#define RAISE(name, ...) (tt_exception_set_message(__VA_ARGS__), TUTTI_HLA_##name)

/* Memory is out. */
static inline enum tt_hla tt_exception_raise_memory(void)
{
    (void)tt_fail_memory();
    return TUTTI_HLA_RTIinternalError;
}

/* Leave the calling function with the exception of `expr`, if it has one. */
#define HLA_TRY(expr)                                                                                                  \
    do {                                                                                                               \
        enum tt_hla try_hla_ = (expr);                                                                                 \
        if (__builtin_expect(try_hla_ != TUTTI_HLA_OK, 0))                                                             \
            return try_hla_;                                                                                           \
    } while (0)

#endif
