/* SPDX-License-Identifier: MIT */
/* attribute_links.h - the values that a run exchanges with a federation: variables of units and attributes of objects,
 * as --publish and --subscribe or an SSP's annotation name them, each with its encoding. Made once; all ranks of a run
 * read it. */
#ifndef TT_RUN_FEDERATE_ATTRIBUTE_LINKS_H
#define TT_RUN_FEDERATE_ATTRIBUTE_LINKS_H

#include "model/system/system.h"
#include "run/federate/encoding.h"
#include "sim/job/job.h"

struct tt_attribute_link {
    struct tt_end end;
    const char *class_name; /* "Vehicle.Car", without the root */
    const char *object;     /* its name; NULL: any */
    const char *attribute;
    const char *text; /* as it was given */
    const struct tt_encoding *encoding;
    const char *data_type; /* as the object model has it */
};

struct tt_attribute_links {
    struct tt_attribute_link *published, *subscribed;
    size_t published_count, subscribed_count;
    struct tt_arena arena;
};

/* Encodings are those of the modules that the options name, otherwise those of the variables' types. ARGUMENT, FORMAT
 * with what is expected. */
TUTTI_CHECKED enum tutti_err tt_attribute_links_read(struct tt_attribute_links *links, const struct tt_job *job);
void tt_attribute_links_fini(struct tt_attribute_links *links);

/* Returns true if a class of this name, in the RTI's form, is the link's class or below it. */
bool tt_attribute_links_match_class(const struct tt_attribute_link *link, const char *class_name);
/* "Car[left].z", for messages; good until the end of the statement. */
struct tt_attribute_link_text {
    char text[256];
};
struct tt_attribute_link_text tt_attribute_links_show_link(const struct tt_attribute_link *link);

/* The module of an object model that links need, written as a file. */

/* Writes a module of IEEE 1516-2025: the nested classes with their attributes. `name` is the model's. */
TUTTI_CHECKED enum tutti_err tt_attribute_links_write_module(const struct tt_attribute_links *links, const char *name,
                                                             const char *path);

#endif
