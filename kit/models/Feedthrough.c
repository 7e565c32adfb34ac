/* SPDX-License-Identifier: MIT */
/* Feedthrough - every type of variable, each input copied to an output.
 *
 * FMI 1.0 and 2.0 see the part that they can express. */
#include "kit.h"

#include <string.h>

enum { ROWS = 2, COLUMNS = 3 };

struct feedthrough {
    double float64_in, float64_out, float64_discrete_in, float64_discrete_out, gain, tunable_gain, constant;
    float float32_in, float32_out;
    int8_t int8_in, int8_out;
    uint8_t uint8_in, uint8_out;
    int16_t int16_in, int16_out;
    uint16_t uint16_in, uint16_out;
    int32_t int32_in, int32_out;
    uint32_t uint32_in, uint32_out;
    int64_t int64_in, int64_out, color_in, color_out;
    uint64_t uint64_in, uint64_out;
    bool boolean_in, boolean_out;
    char *string_in, *string_out, *string_parameter;
    struct kit_binary binary_in, binary_out;
    double *matrix_in, *matrix_out;
    int32_t *vector_in, *vector_out;
    char **strings_in, **strings_out;
};
#define KIT_SELF struct feedthrough

static const struct kit_enumeration enumerations[] = {
    {"Color", "colors of light", {{"red", 1, "stop"}, {"yellow", 2, NULL}, {"green", 3, "go"}}},
};

static const struct kit_alias aliases[] = {{.name = "float64_alias", .description = "the same by another name"},
                                           {.name = NULL}};

static const struct kit_var variables[] = {
    KIT_INPUT(float64_in, .start = "0"),
    KIT_OUTPUT(float64_out, .depends = "float64_in:tunable gain tunable_gain", .aliases = aliases),
    KIT_INPUT(float64_discrete_in, .variability = KIT_DISCRETE, .start = "0"),
    KIT_OUTPUT(float64_discrete_out, .variability = KIT_DISCRETE, .depends = "float64_discrete_in:constant"),
    KIT_PARAMETER(gain, .start = "1", .description = "factor of float64_out"),
    KIT_PARAMETER(tunable_gain, .variability = KIT_TUNABLE, .start = "1", .description = "a second factor"),
    KIT_OUTPUT(constant, .variability = KIT_CONSTANT, .start = "42", .depends = ""),
    KIT_INPUT(float32_in, .start = "0"),
    KIT_OUTPUT(float32_out, .depends = "float32_in"),
    KIT_INPUT(int8_in, .start = "0"),
    KIT_OUTPUT(int8_out, .depends = "int8_in"),
    KIT_INPUT(uint8_in, .start = "0"),
    KIT_OUTPUT(uint8_out, .depends = "uint8_in"),
    KIT_INPUT(int16_in, .start = "0"),
    KIT_OUTPUT(int16_out, .depends = "int16_in"),
    KIT_INPUT(uint16_in, .start = "0"),
    KIT_OUTPUT(uint16_out, .depends = "uint16_in"),
    KIT_INPUT(int32_in, .start = "0", .min = "-1000000000", .max = "1000000000"),
    KIT_OUTPUT(int32_out, .depends = "int32_in"),
    KIT_INPUT(uint32_in, .start = "0"),
    KIT_OUTPUT(uint32_out, .depends = "uint32_in"),
    KIT_INPUT(int64_in, .start = "0"),
    KIT_OUTPUT(int64_out, .depends = "int64_in"),
    KIT_INPUT(uint64_in, .start = "0"),
    KIT_OUTPUT(uint64_out, .depends = "uint64_in"),
    KIT_INPUT(boolean_in, .start = "false"),
    KIT_OUTPUT(boolean_out, .depends = "boolean_in"),
    KIT_INPUT(string_in, .start = "Set me!"),
    KIT_OUTPUT(string_out, .depends = "string_in"),
    KIT_PARAMETER(string_parameter, .start = "a \"quoted\" <text> & \xc3\xbcml\xc3\xa4ut"),
    KIT_INPUT(color_in, .enumeration = "Color", .start = "1"),
    KIT_OUTPUT(color_out, .enumeration = "Color", .depends = "color_in"),
    KIT_INPUT(binary_in, .start = "666f6f", .mime_type = "text/plain"),
    KIT_OUTPUT(binary_out, .depends = "binary_in", .mime_type = "text/plain"),
    KIT_INPUT(matrix_in, .dims = "2 3", .start = "0"),
    KIT_OUTPUT(matrix_out, .dims = "2 3", .depends = "matrix_in:constant"),
    KIT_INPUT(vector_in, .dims = "3", .start = "1 2 3"),
    KIT_OUTPUT(vector_out, .dims = "3", .depends = "vector_in"),
    KIT_INPUT(strings_in, .dims = "2", .start = "first\nsecond"),
    KIT_OUTPUT(strings_out, .dims = "2", .depends = "strings_in"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct feedthrough *m = self;
    m->float64_out = m->gain * m->tunable_gain * m->float64_in;
    m->float64_discrete_out = m->float64_discrete_in;
    m->float32_out = m->float32_in;
    m->int8_out = m->int8_in;
    m->uint8_out = m->uint8_in;
    m->int16_out = m->int16_in;
    m->uint16_out = m->uint16_in;
    m->int32_out = m->int32_in;
    m->uint32_out = m->uint32_in;
    m->int64_out = m->int64_in;
    m->uint64_out = m->uint64_in;
    m->boolean_out = m->boolean_in;
    m->color_out = m->color_in;
    memcpy(m->matrix_out, m->matrix_in, ROWS * COLUMNS * sizeof *m->matrix_in);
    memcpy(m->vector_out, m->vector_in, 3 * sizeof *m->vector_in);
    for (int i = 0; i < 2; i++)
        if (kit_set_string(kit, &m->strings_out[i], m->strings_in[i]) != KIT_OK)
            return KIT_ERROR;
    if (kit_set_string(kit, &m->string_out, m->string_in) != KIT_OK)
        return KIT_ERROR;
    return kit_set_binary(kit, &m->binary_out, m->binary_in.data, m->binary_in.size);
}

const struct kit_model kit_model = {
    .name = "Feedthrough",
    .description = "Copies inputs of all types to outputs",
    .size = sizeof(struct feedthrough),
    KIT_VARIABLES(variables),
    KIT_ENUMERATIONS(enumerations),
    .experiment = {.stop = 2, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE,
    .outputs = outputs,
};
