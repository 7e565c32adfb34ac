/* SPDX-License-Identifier: MIT */
/* desc_check.h - shared by the files of tutti_desc_check. Private to desc_check*.c. */
#ifndef TUTTI_DESCRIPTION_DESC_CHECK_H
#define TUTTI_DESCRIPTION_DESC_CHECK_H

#include "description/desc.h"
#include "description/desc_report.h"

/* What is known of a variable from other places in the file. */
enum {
    TUTTI_ROLE_STATE = 1 << 0,          /* the derivative of some variable is listed */
    TUTTI_ROLE_DERIVATIVE = 1 << 1,     /* it is listed among the derivatives */
    TUTTI_ROLE_OUTPUT = 1 << 2,         /* ... the outputs */
    TUTTI_ROLE_INITIAL = 1 << 3,        /* ... the initial unknowns */
    TUTTI_ROLE_DIFFERENTIATED = 1 << 4, /* some variable says that it is its derivative */
};

struct tutti_check {
    const struct tutti_desc *desc;
    struct tutti_report report;
    struct tutti_arena arena; /* what the checks need for themselves */
    uint8_t *roles;           /* of each variable, TUTTI_ROLE_* */
    int64_t **items;          /* of each type: the values of its items in order, NULL if it has none */
};

/* Findings about a variable, at its line. The format must be a literal. */
void tutti_check_error(struct tutti_check *check, const struct tutti_var *var, const char *format, ...)
    TUTTI_PRINTF(3, 4);
void tutti_check_warning(struct tutti_check *check, const struct tutti_var *var, const char *format, ...)
    TUTTI_PRINTF(3, 4);

/* desc_check_vars.c: each variable for itself, against its type, its dimensions and its clocks. */
void tutti_check_vars(struct tutti_check *check);
/* desc_check_structure.c: value references and aliases; fills `roles`; the lists of the model structure. */
TUTTI_CHECKED enum tutti_err tutti_check_references(struct tutti_check *check);
void tutti_check_structure(struct tutti_check *check);

#endif
