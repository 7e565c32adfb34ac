/* SPDX-License-Identifier: MIT */
/* callback.h - the queue of callbacks from the RTI to a federate. */
#ifndef TT_HLA_RTI_CALLBACK_H
#define TT_HLA_RTI_CALLBACK_H

#include "hla/rti/message.h"

/* The names of IEEE 1516.1-2025. Those that the standard has with and without a time are one, with `timed`. */
#define TUTTI_CALLBACKS(X)                                                                                             \
    X(ReportFederationExecutions)                                                                                      \
    X(ReportFederationExecutionMembers)                                                                                \
    X(ReportFederationExecutionDoesNotExist)                                                                           \
    X(SynchronizationPointRegistrationSucceeded)                                                                       \
    X(SynchronizationPointRegistrationFailed)                                                                          \
    X(AnnounceSynchronizationPoint)                                                                                    \
    X(FederationSynchronized)                                                                                          \
    X(StartRegistrationForObjectClass)                                                                                 \
    X(StopRegistrationForObjectClass)                                                                                  \
    X(TurnInteractionsOn)                                                                                              \
    X(TurnInteractionsOff)                                                                                             \
    X(ObjectInstanceNameReservationSucceeded)                                                                          \
    X(ObjectInstanceNameReservationFailed)                                                                             \
    X(MultipleObjectInstanceNameReservationSucceeded)                                                                  \
    X(MultipleObjectInstanceNameReservationFailed)                                                                     \
    X(DiscoverObjectInstance)                                                                                          \
    X(ReflectAttributeValues)                                                                                          \
    X(ReceiveInteraction)                                                                                              \
    X(ReceiveDirectedInteraction)                                                                                      \
    X(RemoveObjectInstance)                                                                                            \
    X(AttributesInScope)                                                                                               \
    X(AttributesOutOfScope)                                                                                            \
    X(ProvideAttributeValueUpdate)                                                                                     \
    X(TurnUpdatesOnForObjectInstance)                                                                                  \
    X(TurnUpdatesOffForObjectInstance)                                                                                 \
    X(ConfirmAttributeTransportationTypeChange)                                                                        \
    X(ReportAttributeTransportationType)                                                                               \
    X(ConfirmInteractionTransportationTypeChange)                                                                      \
    X(ReportInteractionTransportationType)                                                                             \
    X(RequestAttributeOwnershipAssumption)                                                                             \
    X(RequestDivestitureConfirmation)                                                                                  \
    X(AttributeOwnershipAcquisitionNotification)                                                                       \
    X(AttributeOwnershipUnavailable)                                                                                   \
    X(RequestAttributeOwnershipRelease)                                                                                \
    X(ConfirmAttributeOwnershipAcquisitionCancellation)                                                                \
    X(InformAttributeOwnership)                                                                                        \
    X(AttributeIsNotOwned)                                                                                             \
    X(AttributeIsOwnedByRTI)                                                                                           \
    X(TimeRegulationEnabled)                                                                                           \
    X(TimeConstrainedEnabled)                                                                                          \
    X(FlushQueueGrant)                                                                                                 \
    X(TimeAdvanceGrant)                                                                                                \
    X(RequestRetraction)

enum tt_callback_kind {
#define X(name) TUTTI_CALLBACK_##name,
    TUTTI_CALLBACKS(X)
#undef X
};

/* "ReflectAttributeValues". Static. */
const char *tt_callback_name(enum tt_callback_kind kind);

/* A federation with its kind of time, or a federate with its type. */
struct tt_callback_report {
    const char *name, *type;
};

/* Fields that a kind does not have are 0. */
struct tt_callback {
    enum tt_callback_kind kind;
    uint32_t object, object_class, interaction_class;
    uint32_t federate; /* that produced it, or owns the attributes */
    uint32_t transportation;
    int reason;       /* of a failure; 1: a member of the synchronization set is not joined */
    const char *text; /* a label, the name of an object or a federation, a reason in words */
    struct tt_octets tag;
    const uint32_t *handles; /* attributes; federates that failed to synchronize */
    size_t handle_count;
    const struct tt_hla_value *values;
    size_t value_count;
    const struct tt_callback_report *reports;
    size_t report_count;
    const char *const *names; /* of several objects */
    size_t name_count;
    bool timed;
    int64_t time, optimistic_time;
    enum tt_message_order sent, received;
    uint64_t retraction; /* 0: it cannot be retracted */

    /* Of the queue. */
    struct tt_message *message; /* that values and tag lie in */
    struct tt_callback *next;
    size_t size;
};

/* Copies the callback with all its data to one block, except for data in its shared message. NULL: memory is out. */
struct tt_callback *tt_callback_copy(const struct tt_callback *callback);
void tt_callback_free(struct tt_callback *callback);

#endif
