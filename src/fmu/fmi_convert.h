/* SPDX-License-Identifier: MIT */
/* fmi_convert.h - values between our layout (type.h) and FMI 1.0's and 2.0's, where Enumeration is an int, and Boolean is an
 * int (2.0) or a char (1.0). In scratch memory of the instance; NULL when memory is out. */
#ifndef TT_FMU_FMI_CONVERT_H
#define TT_FMU_FMI_CONVERT_H

#include "base/text.h"
#include "fmu/fmi_call_instance.h"

static inline int *tt_fmi_convert_to_int(struct tt_instance *in, enum tt_type type, const void *values, size_t n)
{
    int *out = tt_instance_scratch(in, n * sizeof *out);
    for (size_t i = 0; out && i < n; i++)
        out[i] = type == TUTTI_TYPE_BOOLEAN ? ((const bool *)values)[i] : (int)((const int64_t *)values)[i];
    return out;
}

static inline void tt_fmi_convert_from_int(enum tt_type type, const int *in, void *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (type == TUTTI_TYPE_BOOLEAN)
            ((bool *)values)[i] = in[i] != 0;
        else
            ((int64_t *)values)[i] = in[i];
    }
}

static inline char *tt_fmi_convert_to_char(struct tt_instance *in, const bool *values, size_t n)
{
    char *out = tt_instance_scratch(in, n);
    for (size_t i = 0; out && i < n; i++)
        out[i] = values[i];
    return out;
}

static inline void tt_fmi_convert_from_char(const char *in, bool *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = in[i] != 0;
}

/* Paths as the URIs that FMI 1.0 and 2.0 want. */

/* Appends "file://" and the percent-encoded absolute path without a slash at its end. */
void tt_fmi_convert_path_to_uri(struct tt_text *out, const char *path);

#endif
