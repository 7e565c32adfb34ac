/* SPDX-License-Identifier: MIT */
/* support.h - the services of chapter 10: handles to names and back, normalized handles, switches.
 *
 * Names are borrowed from the federation until a federate joins with modules, or leaves. */
#ifndef TUTTI_RTI_SUPPORT_H
#define TUTTI_RTI_SUPPORT_H

#include "rti/federation.h"

TUTTI_CHECKED enum tutti_hla tutti_rti_get_federate_handle(struct tutti_ambassador *ambassador, const char *name,
                                                           uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_federate_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                         const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_object_class_handle(struct tutti_ambassador *ambassador, const char *name,
                                                               uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_object_class_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                             const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_attribute_handle(struct tutti_ambassador *ambassador, uint32_t class,
                                                            const char *name, uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_attribute_name(struct tutti_ambassador *ambassador, uint32_t class,
                                                          uint32_t handle, const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_interaction_class_handle(struct tutti_ambassador *ambassador,
                                                                    const char *name, uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_interaction_class_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                                  const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_parameter_handle(struct tutti_ambassador *ambassador, uint32_t class,
                                                            const char *name, uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_parameter_name(struct tutti_ambassador *ambassador, uint32_t class,
                                                          uint32_t handle, const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_known_class(struct tutti_ambassador *ambassador, uint32_t object,
                                                       uint32_t *class);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_object_handle(struct tutti_ambassador *ambassador, const char *name,
                                                         uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_object_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                       const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_update_rate(struct tutti_ambassador *ambassador, const char *name,
                                                       double *rate);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_order(struct tutti_ambassador *ambassador, const char *name,
                                                 enum tutti_order *order);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_order_name(struct tutti_ambassador *ambassador, enum tutti_order order,
                                                      const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_transportation_handle(struct tutti_ambassador *ambassador, const char *name,
                                                                 uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_transportation_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                               const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_dimension_handle(struct tutti_ambassador *ambassador, const char *name,
                                                            uint32_t *handle);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_dimension_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                          const char **name);
TUTTI_CHECKED enum tutti_hla tutti_rti_get_dimension_upper_bound(struct tutti_ambassador *ambassador, uint32_t handle,
                                                                 uint32_t *bound);

/* What a handle is in dimensions of the RTI: the handle itself. */
TUTTI_CHECKED enum tutti_hla tutti_rti_normalize_service_group(struct tutti_ambassador *ambassador, unsigned group,
                                                               uint32_t *value);
TUTTI_CHECKED enum tutti_hla tutti_rti_normalize_federate(struct tutti_ambassador *ambassador, uint32_t handle,
                                                          uint32_t *value);
TUTTI_CHECKED enum tutti_hla tutti_rti_normalize_object_class(struct tutti_ambassador *ambassador, uint32_t handle,
                                                              uint32_t *value);
TUTTI_CHECKED enum tutti_hla tutti_rti_normalize_interaction_class(struct tutti_ambassador *ambassador, uint32_t handle,
                                                                   uint32_t *value);
TUTTI_CHECKED enum tutti_hla tutti_rti_normalize_object(struct tutti_ambassador *ambassador, uint32_t handle,
                                                        uint32_t *value);

/* The federate's own switches, to read and to write, and those of the federation, to read. */
TUTTI_CHECKED enum tutti_hla tutti_rti_switches(struct tutti_ambassador *ambassador, struct tutti_fom_switches **own,
                                                const struct tutti_fom_switches **federation);

#endif
