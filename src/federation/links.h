/* SPDX-License-Identifier: MIT */
/* links.h - what goes from a run to a federation and back: variables of units and attributes of objects, as --publish and --subscribe or an
 * SSP's annotation name them, each with its encoding. Made once; all ranks of a run read it. */
#ifndef TUTTI_FEDERATION_LINKS_H
#define TUTTI_FEDERATION_LINKS_H

#include "federation/encoding.h"
#include "job/job.h"
#include "system/system.h"

struct tutti_attribute_link {
    struct tutti_end end;
    const char *class_name; /* "Vehicle.Car", without the root */
    const char *object;     /* its name; NULL: any */
    const char *attribute;
    const char *text; /* as it was given */
    const struct tutti_encoding *encoding;
    const char *data_type; /* as the object model has it */
};

struct tutti_attribute_links {
    struct tutti_attribute_link *published, *subscribed;
    size_t published_count, subscribed_count;
    struct tutti_arena arena;
};

/* Encodings are those of the modules that the options name, else those of the variables' types. ARGUMENT, FORMAT with what would be right. */
TUTTI_CHECKED enum tutti_err tutti_attribute_links_read(struct tutti_attribute_links *links,
                                                        const struct tutti_job *job);
void tutti_attribute_links_fini(struct tutti_attribute_links *links);

/* Is a class of this name, as an RTI may call it, the link's class or one below it? */
bool tutti_attribute_link_takes_class(const struct tutti_attribute_link *link, const char *class_name);
/* "Car[left].z", for messages; good until the end of the statement. */
struct tutti_attribute_link_text {
    char text[256];
};
struct tutti_attribute_link_text tutti_attribute_link_show(const struct tutti_attribute_link *link);

#endif
