/* SPDX-License-Identifier: MIT */
/* support.h - the services of chapter 10: handles to names and back, normalized handles, switches.
 *
 * Names are borrowed from the federation until a federate joins with modules, or leaves. */
#ifndef TT_HLA_RTI_SUPPORT_H
#define TT_HLA_RTI_SUPPORT_H

#include "hla/rti/federation.h"

TUTTI_CHECKED enum tt_hla tt_support_get_federate_handle(struct tt_ambassador *ambassador, const char *name,
                                                         uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_federate_name(struct tt_ambassador *ambassador, uint32_t handle,
                                                       const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_object_class_handle(struct tt_ambassador *ambassador, const char *name,
                                                             uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_object_class_name(struct tt_ambassador *ambassador, uint32_t handle,
                                                           const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_attribute_handle(struct tt_ambassador *ambassador, uint32_t class,
                                                          const char *name, uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_attribute_name(struct tt_ambassador *ambassador, uint32_t class,
                                                        uint32_t handle, const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_interaction_class_handle(struct tt_ambassador *ambassador, const char *name,
                                                                  uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_interaction_class_name(struct tt_ambassador *ambassador, uint32_t handle,
                                                                const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_parameter_handle(struct tt_ambassador *ambassador, uint32_t class,
                                                          const char *name, uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_parameter_name(struct tt_ambassador *ambassador, uint32_t class,
                                                        uint32_t handle, const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_known_class(struct tt_ambassador *ambassador, uint32_t object,
                                                     uint32_t *class);
TUTTI_CHECKED enum tt_hla tt_support_get_object_handle(struct tt_ambassador *ambassador, const char *name,
                                                       uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_object_name(struct tt_ambassador *ambassador, uint32_t handle,
                                                     const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_update_rate(struct tt_ambassador *ambassador, const char *name, double *rate);
TUTTI_CHECKED enum tt_hla tt_support_get_order(struct tt_ambassador *ambassador, const char *name,
                                               enum tt_message_order *order);
TUTTI_CHECKED enum tt_hla tt_support_get_order_name(struct tt_ambassador *ambassador, enum tt_message_order order,
                                                    const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_transportation_handle(struct tt_ambassador *ambassador, const char *name,
                                                               uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_transportation_name(struct tt_ambassador *ambassador, uint32_t handle,
                                                             const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_dimension_handle(struct tt_ambassador *ambassador, const char *name,
                                                          uint32_t *handle);
TUTTI_CHECKED enum tt_hla tt_support_get_dimension_name(struct tt_ambassador *ambassador, uint32_t handle,
                                                        const char **name);
TUTTI_CHECKED enum tt_hla tt_support_get_dimension_upper_bound(struct tt_ambassador *ambassador, uint32_t handle,
                                                               uint32_t *bound);

/* Returns the coordinate of a handle in dimensions of the RTI: the handle itself. */
TUTTI_CHECKED enum tt_hla tt_support_normalize_service_group(struct tt_ambassador *ambassador, unsigned group,
                                                             uint32_t *value);
TUTTI_CHECKED enum tt_hla tt_support_normalize_federate(struct tt_ambassador *ambassador, uint32_t handle,
                                                        uint32_t *value);
TUTTI_CHECKED enum tt_hla tt_support_normalize_object_class(struct tt_ambassador *ambassador, uint32_t handle,
                                                            uint32_t *value);
TUTTI_CHECKED enum tt_hla tt_support_normalize_interaction_class(struct tt_ambassador *ambassador, uint32_t handle,
                                                                 uint32_t *value);
TUTTI_CHECKED enum tt_hla tt_support_normalize_object(struct tt_ambassador *ambassador, uint32_t handle,
                                                      uint32_t *value);

/* The federate's own switches, to read and to write, and those of the federation, to read. */
TUTTI_CHECKED enum tt_hla tt_support_switches(struct tt_ambassador *ambassador, struct tt_fom_switches **own,
                                              const struct tt_fom_switches **federation);

#endif
