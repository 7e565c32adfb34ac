/* SPDX-License-Identifier: MIT */
/* credentials.h - what a federate shows when it connects: a password in the standard's form, or, for programs of IEEE 1516-2010, which have no
 * credentials, `tutti.key=KEY` among the settings. */
#ifndef TT_HLA_FEDPRO_CREDENTIALS_H
#define TT_HLA_FEDPRO_CREDENTIALS_H

#include "base/fail.h"
#include "hla/fedpro/envelope.h"
#include "hla/fedpro/shapes.pb-c.h"

/* The key as UTF-8, in the memory; NULL: it shows none. */
const char *tt_payload_read_credentials(struct tt_payload_memory *memory, const Fedpro__Credentials *credentials);
const char *tt_payload_read_settings_key(struct tt_payload_memory *memory, const char *settings);
/* The other way round, for a federate: HLAplainTextPassword, in the memory. */
TUTTI_CHECKED enum tutti_err tt_payload_make_credentials(struct tt_payload_memory *memory, const char *key,
                                                         ProtobufCBinaryData *data);

#endif
