/* SPDX-License-Identifier: MIT */
/* write.h - systems as documents of SSP: a new one for FMUs of a command line, or changes to one that is there. */
#ifndef TT_MODEL_SYSTEM_WRITE_H
#define TT_MODEL_SYSTEM_WRITE_H

#include "model/ssp/ssp.h"
#include "model/system/system.h"

/* A setting for one component: the step of its own, its rank. */
struct tt_ssd_writer_setting {
    uint32_t component;
    const char *option;       /* "--step", for messages */
    const char *name, *value; /* A setting for one component: its step, its rank. */
};

/* The content of a document. All of it is borrowed. */
struct tt_ssd_writer_options {
    const struct tt_system *system; /* as it was loaded, with `set` and `connect` */
    bool has_start, has_stop;       /* of the default experiment; a document that is changed keeps its own otherwise */
    double start, stop;
    const struct tt_run_setting *words; /* of the annotation */
    size_t word_count;
    const struct tt_ssd_writer_setting *unit_words;
    size_t unit_word_count;
    const char *name;           /* a new document: of the system */
    const char *tool;           /* a new document: who writes it */
    const char *const *sources; /* a new document: for each FMU of the system, its URI */
    const char *const *tables;  /* a new document: for each table of the system, its URI */
    const char *const *set;     /* a changed document: "A.x=1" */
    size_t set_count;
    const char *const *connect; /* a changed document: "A.y=B.u" */
    size_t connect_count;
};

/* Writes a system of FMUs (no SSP among its files) as a system structure description: components with connectors for
 * inputs, outputs and all variables set or connected, connections, values, geometry, experiment and settings. SSP 1.0
 * if that can express all of it, otherwise 2.0. ARGUMENT for texts that XML cannot represent. *tree is the caller's. */
TUTTI_CHECKED enum tutti_err tt_ssd_writer_write(struct tt_tree **tree, const struct tt_ssd_writer_options *write);

/* Changes the tree of the document that `system` was loaded from. Values become the last binding of the root system,
 * above all others; the rest is unchanged. ARGUMENT if a change belongs to a different document. */
TUTTI_CHECKED enum tutti_err tt_ssd_changes_apply(struct tt_ssd *ssd, const struct tt_ssd_writer_options *write);

#endif
