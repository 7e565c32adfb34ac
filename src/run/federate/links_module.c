/* SPDX-License-Identifier: MIT */
#include "run/federate/links_module.h"

#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"

enum { DEPTH = 4 }; /* spaces of the first class below the root */

static void append_escaped(struct tt_text *text, const char *plain, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (plain[i] == '&' || plain[i] == '<' || plain[i] == '>')
            tt_text_printf(text, "&#%d;", plain[i]);
        else
            tt_text_append_n(text, plain + i, 1);
}

static void append_element(struct tt_text *text, const char *name, const char *plain, size_t length)
{
    tt_text_printf(text, "<%s>", name);
    append_escaped(text, plain, length);
    tt_text_printf(text, "</%s>", name);
}

/* Published ones first, then those that are subscribed to. */
static const struct tt_attribute_link *link_at(const struct tt_attribute_links *links, size_t i)
{
    return i < links->published_count ? &links->published[i] : &links->subscribed[i - links->published_count];
}

static size_t attribute_links_count(const struct tt_attribute_links *links)
{
    return links->published_count + links->subscribed_count;
}

static void append_attribute(struct tt_text *text, const struct tt_attribute_link *link, int depth)
{
    tt_text_printf(text, "%*s<attribute>", depth, "");
    append_element(text, "name", link->attribute, strlen(link->attribute));
    append_element(text, "dataType", link->data_type, strlen(link->data_type));
    tt_text_printf(text,
                   "<updateType>Periodic</updateType>\n%*s<ownership>NoTransfer</ownership>"
                   "<sharing>PublishSubscribe</sharing>\n%*s<transportation>HLAreliable</transportation>"
                   "<order>TimeStamp</order></attribute>\n",
                   depth + 2, "", depth + 2, "");
}

static void append_attributes(struct tt_text *text, const struct tt_attribute_links *links, const char *class_name,
                              size_t length, int depth)
{
    for (size_t i = 0; i < attribute_links_count(links); i++) {
        const struct tt_attribute_link *link = link_at(links, i);
        bool mine = strlen(link->class_name) == length && strncmp(link->class_name, class_name, length) == 0;
        for (size_t j = 0; j < i && mine; j++) /* each attribute once */
            mine = strcmp(link->class_name, link_at(links, j)->class_name) != 0 ||
                   strcmp(link->attribute, link_at(links, j)->attribute) != 0;
        if (mine)
            append_attribute(text, link, depth);
    }
}

/* Does the link's class lie below the one with the first `length` bytes of `class_name`? *end is where its name one level below ends; 0: no. */
static size_t class_level_end(const struct tt_attribute_link *link, const char *class_name, size_t length)
{
    const char *name = link->class_name;
    size_t begin = length > 0 ? length + 1 : 0;
    if (strlen(name) <= begin || strncmp(name, class_name, length) != 0 || (length > 0 && name[length] != '.'))
        return 0;
    return begin + strcspn(name + begin, ".");
}

/* Classes below the one with the first `length` bytes of `class_name`. */
static void append_classes(struct tt_text *text, const struct tt_attribute_links *links, const char *class_name,
                           size_t length, int depth)
{
    for (size_t i = 0; i < attribute_links_count(links); i++) {
        const char *name = link_at(links, i)->class_name;
        size_t end = class_level_end(link_at(links, i), class_name, length), begin = length > 0 ? length + 1 : 0;
        bool first = end > 0;
        for (size_t j = 0; j < i && first; j++)
            first = class_level_end(link_at(links, j), class_name, length) != end ||
                    strncmp(link_at(links, j)->class_name, name, end) != 0;
        if (!first)
            continue;
        tt_text_printf(text, "%*s<objectClass>", depth, "");
        append_element(text, "name", name + begin, end - begin);
        tt_text_append(text, "<sharing>PublishSubscribe</sharing>\n");
        append_attributes(text, links, name, end, depth + 2);
        append_classes(text, links, name, end, depth + 2);
        tt_text_printf(text, "%*s</objectClass>\n", depth, "");
    }
}

enum tutti_err tt_attribute_links_write_module(const struct tt_attribute_links *links, const char *name,
                                               const char *path)
{
    struct tt_text text = {0};
    tt_text_append(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">\n"
                          "  <modelIdentification>");
    append_element(&text, "name", name, strlen(name));
    tt_text_append(&text, "<type>FOM</type><version>1.0</version></modelIdentification>\n"
                          "  <objects><objectClass><name>HLAobjectRoot</name>\n");
    append_classes(&text, links, "", 0, DEPTH);
    tt_text_append(
        &text, "  </objectClass></objects>\n"
               "  <interactions><interactionClass><name>HLAinteractionRoot</name></interactionClass></interactions>\n"
               "  <dataTypes/>\n</objectModel>\n");
    enum tutti_err err = text.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && !tt_fs_replace_result(path, text.text, text.length))
        err = tt_fail(TUTTI_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
    tt_text_fini(&text);
    return err;
}
