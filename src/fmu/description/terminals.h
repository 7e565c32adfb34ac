/* SPDX-License-Identifier: MIT */
/* terminals.h - terminals and icons of an FMU: terminalsAndIcons/terminalsAndIcons.xml (FMI 3.0.2, 2.4.9), which FMUs
 * of older versions may contain, too. A terminal is a named group of variables with a rule that assigns each to a
 * variable of a second terminal.
 *
 * Read-only once it is made; everything is released by tt_terminals_free(). */
#ifndef TT_FMU_DESCRIPTION_TERMINALS_H
#define TT_FMU_DESCRIPTION_TERMINALS_H

#include "fmu/description/description.h"

/* Where a run finds them in an FMU. */
#define TUTTI_TERMINALS_ENTRY "terminalsAndIcons/terminalsAndIcons.xml"

enum {
    TUTTI_TERMINALS_MOST = 100 * 1000,         /* terminals of a file */
    TUTTI_TERMINALS_MOST_MEMBERS = 1000000,    /* members of all of them */
    TUTTI_TERMINALS_DEPTH = 16,                /* terminals inside each other */
    TUTTI_TERMINALS_PATH = 1024,               /* bytes of "outer.inner" */
    TUTTI_TERMINALS_BYTES = 256 * 1024 * 1024, /* of all texts */
};

/* matchingRule */
enum tt_matching {
    TUTTI_MATCHING_PLUG,
    TUTTI_MATCHING_BUS,
    TUTTI_MATCHING_SEQUENCE,
    TUTTI_MATCHING_NONE,
    /* org.fmi-ls-bus.transceiver: Tx_ of one terminal matches Rx_ of its counterpart (fmi-ls-bus, 4.5.1) */
    TUTTI_MATCHING_TRANSCEIVER,
    TUTTI_MATCHING_OTHER,
};

/* variableKind; a TerminalStreamMemberVariable is two members. */
enum tt_member_kind {
    TUTTI_MEMBER_SIGNAL,
    TUTTI_MEMBER_INFLOW,
    TUTTI_MEMBER_OUTFLOW,
    TUTTI_MEMBER_OTHER,
    TUTTI_MEMBER_IN_STREAM,
    TUTTI_MEMBER_OUT_STREAM,
};

struct tt_terminal_member {
    const char *name; /* memberName; NULL: none, as a sequence allows */
    const char *kind_name;
    enum tt_member_kind kind;
    uint32_t variable; /* into desc.vars */
    uint32_t terminal;
    unsigned line;
};

/* A rectangle in the coordinate system of the icon, from corner to corner. */
struct tt_extent {
    bool given;
    double x1, y1, x2, y2;
};

struct tt_terminal {
    const char *name, *path; /* its own; "outer.inner" */
    const char *rule, *kind, *description;
    enum tt_matching matching;
    uint32_t parent;                     /* TUTTI_NONE: it is in no other */
    uint32_t first_member, member_count; /* in terminals.members */
    struct tt_extent extent;
    const char *icon; /* iconBaseName */
    unsigned line;
};

struct tt_terminals {
    const struct tt_terminal *items; /* an outer one before those in it */
    uint32_t count;
    const struct tt_terminal_member *members; /* terminal by terminal, each in the order of the file */
    uint32_t member_count;
    struct tt_extent coordinates, icon;
    double millimetres; /* of a unit of the coordinate system */
    struct tt_map paths;
    struct tt_arena arena;
};

/* Reads the file of the FMU that `desc` describes. Faults are reported to `findings` (may be NULL), and reading
 * continues without the faulty part: a member whose variable does not exist, a duplicate name, a keyword that the
 * standard does not define. FORMAT, with file and line, if it is not such a file; LIMIT beyond the bounds above. `*out`
 * belongs to the caller; its texts are independent of `desc`. */
TUTTI_CHECKED enum tutti_err tt_terminals_read(struct tt_terminals **out, const char *file,
                                               struct tt_byte_source *reader, const struct tt_description *desc,
                                               struct tt_findings *findings);
void tt_terminals_free(struct tt_terminals *terminals);

/* Finds a terminal by its path, "plug" or "outer.inner"; TUTTI_NONE if it does not exist. `terminals` may be NULL. */
uint32_t tt_terminals_find(const struct tt_terminals *terminals, const char *path);

#endif
