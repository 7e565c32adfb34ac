/* SPDX-License-Identifier: MIT */
/* fmi3_values.c - FMI 3.0 on the core: variables, saved states, partial derivatives. */
#include "fmi3.h"

/* Getter and setter of a type that the model's struct holds as FMI passes it. */
#define GET_SET(type, kit_types)                                                                                       \
    fmi3Status fmi3Get##type(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##type values[],             \
                             size_t n_values)                                                                          \
    {                                                                                                                  \
        ENTER("Get" #type, GET);                                                                                       \
        LEAVE(kit_get(k, "Get" #type, kit_types, vr, n, values, n_values));                                            \
    }                                                                                                                  \
    fmi3Status fmi3Set##type(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##type values[],       \
                             size_t n_values)                                                                          \
    {                                                                                                                  \
        ENTER("Set" #type, SET);                                                                                       \
        LEAVE(kit_set(k, "Set" #type, kit_types, vr, n, values, n_values));                                            \
    }

GET_SET(Float32, KIT_TYPE(KIT_FLOAT32))
GET_SET(Int8, KIT_TYPE(KIT_INT8))
GET_SET(UInt8, KIT_TYPE(KIT_UINT8))
GET_SET(Int16, KIT_TYPE(KIT_INT16))
GET_SET(UInt16, KIT_TYPE(KIT_UINT16))
GET_SET(Int32, KIT_TYPE(KIT_INT32))
GET_SET(UInt32, KIT_TYPE(KIT_UINT32))
GET_SET(Int64, KIT_TYPE(KIT_INT64) | KIT_TYPE(KIT_ENUMERATION))
GET_SET(UInt64, KIT_TYPE(KIT_UINT64))
GET_SET(Boolean, KIT_TYPE(KIT_BOOLEAN))
GET_SET(String, KIT_TYPE(KIT_STRING))

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[],
                          size_t n_values)
{
    ENTER("GetFloat64", GET);
    enum kit_status status = kit_get(k, "GetFloat64", KIT_TYPE(KIT_FLOAT64), vr, n, values, n_values);
    KIT_FAULT_VALUES(k, "GetFloat64", values, n_values);
    LEAVE(status);
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 values[],
                          size_t n_values)
{
    ENTER("SetFloat64", SET);
    LEAVE(kit_set(k, "SetFloat64", KIT_TYPE(KIT_FLOAT64), vr, n, values, n_values));
}

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary values[],
                         size_t n_values)
{
    ENTER("GetBinary", GET);
    LEAVE(kit_get_binary(k, vr, n, sizes, values, n_values));
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values)
{
    ENTER("SetBinary", SET);
    LEAVE(kit_set_binaries(k, vr, n, sizes, values, n_values));
}

/* ---- not offered ---- */

/* The kit's models have no clocks, no partitions and no dependencies of single elements. */
#define NOT_OFFERED(name, parameters, unused)                                                                          \
    fmi3Status fmi3##name parameters                                                                                   \
    {                                                                                                                  \
        ENTER(#name, KIT_ANY_MODE);                                                                                    \
        unused;                                                                                                        \
        LEAVE(kit_fail(k, KIT_ERROR, #name ": this FMU does not offer it"));                                           \
    }

NOT_OFFERED(GetNumberOfVariableDependencies, (fmi3Instance c, fmi3ValueReference vr, size_t *n_dependencies),
            ((void)vr, (void)n_dependencies))
NOT_OFFERED(GetVariableDependencies,
            (fmi3Instance c, fmi3ValueReference dependent, size_t dependent_elements[],
             fmi3ValueReference independents[], size_t independent_elements[], fmi3DependencyKind kinds[],
             size_t n_dependencies),
            ((void)dependent, (void)dependent_elements, (void)independents, (void)independent_elements, (void)kinds,
             (void)n_dependencies))

/* ---- optional functions ---- */

#ifndef KIT_LACKS_OPTIONAL

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    ENTER("GetFMUState", KIT_ANY_MODE);
    struct kit_state *own = *state;
    enum kit_status status = kit_offers(k, KIT_ROLLBACK) ? kit_state_get(k, &own) : KIT_ERROR;
    *state = own;
    LEAVE(status);
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    ENTER("SetFMUState", KIT_ANY_MODE);
    LEAVE(kit_offers(k, KIT_ROLLBACK) ? KIT_FAULT_SET_STATE(k, "SetFMUState", state) : KIT_ERROR);
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    ENTER("FreeFMUState", KIT_ANY_MODE);
    kit_state_free(state ? *state : NULL);
    if (state)
        *state = NULL;
    LEAVE(KIT_OK);
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    ENTER("SerializedFMUStateSize", KIT_ANY_MODE);
    LEAVE(kit_state_size(k, state, size));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    ENTER("SerializeFMUState", KIT_ANY_MODE);
    LEAVE(kit_state_serialise(k, state, bytes, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    ENTER("DeserializeFMUState", KIT_ANY_MODE);
    struct kit_state *own = NULL;
    enum kit_status status = kit_state_deserialise(k, bytes, size, &own);
    *state = own;
    LEAVE(status);
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                        const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                        size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    ENTER("GetDirectionalDerivative", COMPUTED);
    if (!kit_offers(k, KIT_DIRECTIONAL))
        return fmi3Error;
    LEAVE(kit_directional(k, false, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed, sensitivity, n_sensitivity));
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                    const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                    size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    ENTER("GetAdjointDerivative", COMPUTED);
    if (!kit_offers(k, KIT_DIRECTIONAL))
        return fmi3Error;
    LEAVE(kit_directional(k, true, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed, sensitivity, n_sensitivity));
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int32 orders[],
                                    fmi3Float64 values[], size_t n_values)
{
    ENTER("GetOutputDerivatives", STEP | INTERMEDIATE | ENDED);
    enum kit_status status = KIT_OK;
    size_t at = 0;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++) {
        status = kit_get_output_derivative(k, vr[i], orders[i], values + at, n_values - at);
        at += status <= KIT_WARNING ? k->slots[vr[i]].count : 0;
    }
    if (status <= KIT_WARNING && at != n_values)
        status = kit_fail(k, KIT_ERROR, "GetOutputDerivatives: there are %zu values, not %zu", at, n_values);
    LEAVE(status);
}

#endif
