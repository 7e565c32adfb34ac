/* SPDX-License-Identifier: MIT */
/* uri.h - the references of SSP documents (RFC 3986) taken apart; for src/ssp/ and src/model/system/model_files.c. */
#ifndef TT_MODEL_SSP_URI_H
#define TT_MODEL_SSP_URI_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/text.h"

/* Texts are the caller's (tt_uri_fini). */
struct tt_uri {
    char *path;     /* decoded, "" for "#id"; begins with '/' if it is absolute */
    char *fragment; /* decoded; NULL: none */
};

/* Reads relative references, absolute paths, and "file:" with an absolute path of this machine. Other texts are
 * ARGUMENT, with the reason and the correct form. */
TUTTI_CHECKED enum tutti_err tt_uri_read(struct tt_uri *uri, const char *text);
void tt_uri_fini(struct tt_uri *uri);

/* `path`, which is relative, from the folder of `base`, which is relative to the same root; "." and ".." are gone.
 * *out is the caller's. ARGUMENT if it leads above the root. */
TUTTI_CHECKED enum tutti_err tt_uri_join(const char *base, const char *path, char **out);

/* Appends a path as a relative reference: what is more than letters, digits and a few marks is percent-encoded. */
void tt_uri_write(struct tt_text *out, const char *path);

#endif
