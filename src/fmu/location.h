/* SPDX-License-Identifier: MIT */
/* location.h - paths as the URIs that FMI 1.0 and 2.0 want. */
#ifndef TT_FMU_LOCATION_H
#define TT_FMU_LOCATION_H

#include "base/text.h"

/* Appends "file://" and the percent-encoded absolute path without a slash at its end. */
void tt_fmi_convert_path_to_uri(struct tt_text *out, const char *path);

#endif
