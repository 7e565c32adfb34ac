/* SPDX-License-Identifier: MIT */
/* encoding.h - values of variables as bytes, by the data types of HLA (IEEE 1516.2), and back.
 *
 * A data type's bytes hold a value of one of our types, in one order: HLAinteger32BE an Int32, big endian. Between that and a variable of
 * another type values are converted as on a connection (model/system/conversion.h). */
#ifndef TT_RUN_FEDERATE_ENCODING_H
#define TT_RUN_FEDERATE_ENCODING_H

#include "base/fail.h"
#include "base/bytes.h"
#include "fmu/description/type.h"
#include "hla/fom/fom.h"
#include "unit/signals.h"

struct tt_encoding;

/* NULL: a data type that is not known here. */
const struct tt_encoding *tt_encoding_find(const char *data_type);
/* As above for a data type of a model: its elements, if they are one value. */
const struct tt_encoding *tt_encoding_find_in_model(const struct tt_fom *fom, const char *data_type);
/* Returns the default for variables of this type; NULL for Clock. */
const struct tt_encoding *tt_encoding_default(enum tt_type type);
const char *tt_encoding_name(const struct tt_encoding *encoding);
/* Returns true if it can encode and decode variables of this type. */
bool tt_encoding_supports(const struct tt_encoding *encoding, enum tt_type type);

/* Adds the bytes of the value of a variable of this type. LIMIT: it does not fit. */
TUTTI_CHECKED enum tutti_err tt_encoding_encode(const struct tt_encoding *encoding, enum tt_type type,
                                                const void *value, struct tt_byte_writer *out);
/* Decodes bytes to `value`; `owned` is for Strings and Binaries. FORMAT: malformed; LIMIT: it does not fit. */
TUTTI_CHECKED enum tutti_err tt_encoding_decode(const struct tt_encoding *encoding, const void *bytes, size_t size,
                                                enum tt_type type, void *value, struct tt_owned *owned);

#endif
