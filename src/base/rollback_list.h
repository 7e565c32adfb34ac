/* SPDX-License-Identifier: MIT */
/* rollback_list.h - lists the state that a computation carries from one point to the next, to be saved and restored.
 *
 * The list refers to pieces that stay in the structs of their modules. A piece is plain data, without pointers and
 * owned resources: copying its bytes restores it. All pieces are saved as one block of bytes, in the order of the list.
 * For a different process, which may have different units, they are packed by owner. */
#ifndef TT_BASE_ROLLBACK_LIST_H
#define TT_BASE_ROLLBACK_LIST_H

#include <stddef.h>

#include "base/fail.h"
#include "base/bytes.h"

/* Owner of a piece that does not belong to a component (otherwise the component's number): shared by all ranks; or
 * local to this rank, and of use only to a rank with the same components. */
enum { TUTTI_OF_ALL = -1, TUTTI_OF_RANK = -2 };

struct tt_rollback_piece {
    void *data; /* borrowed */
    size_t size;
    int64_t of;
    size_t next; /* 1 + the place of the next one of the same; 0: it is the last */
};

/* The pieces of one owner: 1 + the indices of the first and the last piece; 0 if there are none. */
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
/* Those `of` a component, or of all, or of the rank: their bytes; packed; and back. FORMAT if these are others. */
size_t tt_rollback_list_size(const struct tt_rollback_list *remembered, int64_t of);
void tt_rollback_list_pack(const struct tt_rollback_list *remembered, int64_t of, struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_rollback_list_unpack(const struct tt_rollback_list *remembered, int64_t of,
                                                     struct tt_byte_reader *in);
/* Empty again. */
void tt_rollback_list_fini(struct tt_rollback_list *remembered);

#endif
