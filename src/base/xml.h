/* SPDX-License-Identifier: MIT */
/* xml.h - the elements of an XML file as a bounded stream, over expat.
 *
 * For untrusted files. A document type is rejected, so there are no entities to expand, and only the file itself is
 * read. Depth, attributes, elements, the size of one tag and the memory of the parser are bounded; beyond a bound the
 * error is TUTTI_ERR_LIMIT. */
#ifndef TT_BASE_XML_H
#define TT_BASE_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/bytes.h"

enum {
    TUTTI_XML_DEPTH = 128,                  /* elements inside each other */
    TUTTI_XML_ATTRIBUTES = 256,             /* of one element */
    TUTTI_XML_ELEMENTS = 100 * 1000 * 1000, /* of a file */
    TUTTI_XML_TAG = 32 * 1024 * 1024,       /* bytes of one tag or comment */
    TUTTI_XML_HEAP = 256 * 1024 * 1024,     /* bytes that the parser may hold, unless handlers say otherwise */
};

struct tt_xml;

/* Every text lives only during the call. An error ends the reading and is what tt_xml_read returns. */
struct tt_xml_handlers {
    /* `attributes` is name, value, name, value, ..., NULL. */
    enum tutti_err (*start)(void *context, struct tt_xml *xml, const char *name, const char **attributes);
    enum tutti_err (*end)(void *context, struct tt_xml *xml);
    /* Called piece by piece while tt_xml_enable_text is on. NULL: never wanted. */
    enum tutti_err (*text)(void *context, struct tt_xml *xml, const char *text, size_t n);
    size_t heap; /* bytes that the parser may hold; 0: TUTTI_XML_HEAP */
};

/* Reads to the end. `file` is the name for messages. TUTTI_ERR_FORMAT for malformed XML; errors of `reader` pass. */
TUTTI_CHECKED enum tutti_err tt_xml_read(const char *file, struct tt_byte_source *reader,
                                         const struct tt_xml_handlers *handlers, void *context);

/* Returns the value of the attribute `name`; NULL if the element does not have it. */
const char *tt_xml_attribute(const char **attributes, const char *name);

/* Inside of a handler: the line where the tag begins. Lines are counted on demand, so ask only where it matters. */
unsigned tt_xml_line(struct tt_xml *xml);
/* Inside of a handler: whether character data is wanted from here on. It is not at the beginning. */
void tt_xml_enable_text(struct tt_xml *xml, bool wanted);
/* Inside of a handler: fails with "file:line: " before the words, which are made fit for a terminal. */
enum tutti_err tt_xml_fail(struct tt_xml *xml, enum tutti_err err, const char *format, ...) TUTTI_PRINTF(3, 4);

#endif
