/* SPDX-License-Identifier: MIT */
/* remembered.h - what a computation remembers from one point to the next, to be saved there and brought back.
 *
 * It is a list of pieces, which lie where their modules have them. A piece is plain data: no pointers, nothing that is owned;
 * assigning its bytes is all that it takes to bring it back. All pieces together are saved as one block of bytes, in the order
 * of the list. */
#ifndef TUTTI_BASE_REMEMBERED_H
#define TUTTI_BASE_REMEMBERED_H

#include <stddef.h>

#include "base/err.h"

struct tutti_remembered_piece {
    void *data; /* borrowed */
    size_t size;
};

/* Zeroed is empty. */
struct tutti_remembered {
    struct tutti_remembered_piece *pieces;
    size_t count, room;
    size_t size; /* of all of them, in bytes */
};

/* One more piece. It must stay where it is, and as large, as long as the list is used. */
TUTTI_CHECKED enum tutti_err tutti_remember(struct tutti_remembered *remembered, void *data, size_t size);
/* `bytes` has room for remembered->size of them. */
void tutti_remembered_save(const struct tutti_remembered *remembered, void *bytes);
void tutti_remembered_restore(const struct tutti_remembered *remembered, const void *bytes);
/* Empty again. */
void tutti_remembered_fini(struct tutti_remembered *remembered);

#endif
