/* SPDX-License-Identifier: MIT */
/* mat_reader.h - the matrices of a MAT-file of level 4 ("MAT-File Format", MathWorks), of either byte order. Reading
 * stays within the file for any content. */
#ifndef TT_RESULTS_MAT_READER_H
#define TT_RESULTS_MAT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/fail.h"

enum { TUTTI_MAT_HEAD = 20, TUTTI_MAT_NAME = 32 };

struct tt_mat_matrix {
    char name[TUTTI_MAT_NAME]; /* cut off if it is longer */
    size_t rows, columns;      /* stored column by column */
    size_t size;               /* bytes of an element */
    bool text, sparse, complex;
    bool swapped;       /* not in this machine's byte order */
    unsigned char type; /* of the elements, as in the file: double, float, int32, int16, uint16, uint8 */
    off_t at;           /* of the first element */
    off_t end;          /* after the last one; may lie after the end of the file */
};

struct tt_mat_file {
    int fd;
    off_t size;
    off_t next; /* where the next matrix begins */
    const char *path;
};

/* Returns true if these could be the first bytes of such a file. */
bool tt_mat_reader_fits(const unsigned char *head, size_t size);

/* `path` is borrowed until tt_mat_reader_close. */
TUTTI_CHECKED enum tutti_err tt_mat_reader_open(struct tt_mat_file *file, const char *path);
void tt_mat_reader_close(struct tt_mat_file *file);

/* Reads the next matrix; *found is false at the end of the file. FORMAT if the data is not a matrix. */
TUTTI_CHECKED enum tutti_err tt_mat_reader_next(struct tt_mat_file *file, struct tt_mat_matrix *matrix, bool *found);

/* n elements from `first` on, in the order of the file, as doubles. IO also if the file does not have them (any more). */
TUTTI_CHECKED enum tutti_err tt_mat_reader_read(const struct tt_mat_file *file, const struct tt_mat_matrix *matrix,
                                                uint64_t first, size_t n, double *values);

/* Names and descriptions as Modelica tools write them into results. */

/* A line of `width` bytes without padding blanks or NULs, printable; invalid UTF-8 is read as Latin-1. NULL: no memory. */
char *tt_mat_reader_text(struct tt_arena *arena, const char *line, size_t width);

/* Splits "description [unit|display unit]"; both results point into `text`, or are NULL. Dymola puts types there, too:
 * "[:#(type=Boolean)]", and any type other than Real, is discrete. */
void tt_mat_reader_split_unit(char *text, const char **unit, const char **description, bool *discrete);

#endif
