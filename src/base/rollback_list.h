/* SPDX-License-Identifier: MIT */
/* rollback_list.h - what a computation remembers from one point to the next, to be saved there and brought back.
 *
 * It is a list of pieces, which lie where their modules have them. A piece is plain data: no pointers, nothing that is owned;
 * assigning its bytes is all that it takes to bring it back. All pieces together are saved as one block of bytes, in the order
 * of the list. For another process, which may have other units than this one, they are packed by whom they belong to. */
#ifndef TT_BASE_ROLLBACK_LIST_H
#define TT_BASE_ROLLBACK_LIST_H

#include <stddef.h>

#include "base/fail.h"
#include "base/bytes.h"

/* Whom a piece belongs to, if not to a component, whose number this is then: on every rank the same, or known to this rank
 * alone, and of no use to another process. */
enum { TUTTI_OF_ALL = -1, TUTTI_OF_RANK = -2 };

struct tt_rollback_piece {
    void *data; /* borrowed */
    size_t size;
    int64_t of;
    size_t next; /* 1 + the place of the next one of the same; 0: it is the last */
};

/* Pieces of one component, or of all, or of the rank: 1 + the places of the first and of the last one; 0: there is none. */
struct tt_rollback_range {
    size_t first, last;
};

/* Zeroed is empty. */
struct tt_rollback_list {
    struct tt_rollback_piece *pieces;
    size_t count, room;
    size_t size;                     /* of all of them, in bytes */
    struct tt_rollback_range *lists; /* by `of` - TUTTI_OF_RANK */
    size_t list_count, list_room;
};

/* One more piece, the same on every rank. It must stay where it is, and as large, as long as the list is used. */
TUTTI_CHECKED enum tutti_err tt_rollback_list_add(struct tt_rollback_list *remembered, void *data, size_t size);
/* The same, `of` a component, or of this rank. */
TUTTI_CHECKED enum tutti_err tt_rollback_list_add_of(struct tt_rollback_list *remembered, int64_t of, void *data,
                                                     size_t size);
/* `bytes` has room for remembered->size of them. */
void tt_rollback_list_save(const struct tt_rollback_list *remembered, void *bytes);
void tt_rollback_list_restore(const struct tt_rollback_list *remembered, const void *bytes);
/* Those `of` a component, or of all; and back. FORMAT if these are others. */
void tt_rollback_list_pack(const struct tt_rollback_list *remembered, int64_t of, struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_rollback_list_unpack(const struct tt_rollback_list *remembered, int64_t of,
                                                     struct tt_byte_reader *in);
/* Empty again. */
void tt_rollback_list_fini(struct tt_rollback_list *remembered);

#endif
