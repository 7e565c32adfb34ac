/* SPDX-License-Identifier: MIT */
/* record_sink.h - where the rows of a rank go: to their receiver, or to the conductor, which makes one row of what all ranks
 * bring. */
#ifndef TT_SIM_REPORT_RECORD_SINK_H
#define TT_SIM_REPORT_RECORD_SINK_H

#include "base/bytes.h"
#include "sim/ranks/fabric.h"
#include "results/output.h"

/* Where a column stands among those of all ranks: sorted by component, then place, then as its rank has them. */
struct tt_column_place {
    uint32_t component; /* TUTTI_NONE: what belongs to no unit, after all others */
    uint32_t place;
    /* What of its unit it shows: columns that agree in these and in type are aliases. TUTTI_NONE: something of its own. */
    uint32_t reference;
    size_t element;
};

struct tt_record_piece; /* what is copied in one go */

/* Zeroed: nothing is recorded. */
struct tt_record_sink {
    struct tt_output output;  /* if there is no conductor */
    struct tt_fabric *fabric; /* to the conductor; NULL: not */
    struct tt_byte_writer parcel;
    struct tt_record_piece *pieces;
    size_t piece_count;
    size_t fixed; /* bytes of a row's values; 0: there are texts among them */
    bool brings_rows;
};

/* Tells the conductor the columns, in the name of the system. Rows then come from rank 0, which always tells the time, and
 * from ranks that have columns; from no rank unless `records`. */
TUTTI_CHECKED enum tutti_err tt_record_open_sink(struct tt_record_sink *sink, struct tt_fabric *fabric,
                                                 const char *system, const struct tt_column *columns,
                                                 const struct tt_column_place *places, size_t count, bool records);
TUTTI_CHECKED enum tutti_err tt_record_send_row(struct tt_record_sink *sink, double t);
/* Hands what was written so far to the operating system; the conductor does so by itself. */
TUTTI_CHECKED enum tutti_err tt_record_flush_sink(struct tt_record_sink *sink);
/* Also after a failed open. */
TUTTI_CHECKED enum tutti_err tt_record_close_sink(struct tt_record_sink *sink);

#endif
