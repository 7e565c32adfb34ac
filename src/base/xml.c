/* SPDX-License-Identifier: MIT */
#include "base/xml.h"

#include <expat.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum { BUFFER = 64 * 1024, BUFFER_LARGEST = 8 * 1024 * 1024 };

struct tt_xml {
    XML_Parser parser;
    const char *file;
    const struct tt_xml_handlers *handlers;
    void *context;
    enum tutti_err err; /* of a handler */
    unsigned depth, elements;
    bool moved; /* a tag was completed in the present buffer */

    /* Lines: expat counts them byte by byte, which costs as much as a fifth of the parsing. Here the newlines of the
     * present buffer are counted by memchr, up to the tag that is asked about. */
    const char *buffer;
    size_t begin, length; /* where the buffer is in the file, and its size */
    size_t counted;       /* bytes of it that are counted */
    unsigned line;        /* at `counted` */
    unsigned line_begin;  /* at the buffer's beginning */
};

/* expat asks for memory without saying who asks, so the count is per thread. */
static _Thread_local size_t heap_used, heap_limit;
static _Thread_local bool heap_exhausted;

struct xml_block {
    alignas(max_align_t) size_t size;
    alignas(max_align_t) char bytes[];
};

static void *xml_heap_resize(void *memory, size_t size)
{
    struct xml_block *old = memory ? (struct xml_block *)((char *)memory - offsetof(struct xml_block, bytes)) : NULL;
    size_t held = old ? old->size : 0;
    if (size > held && size - held > heap_limit - heap_used) {
        heap_exhausted = true;
        return NULL;
    }
    struct xml_block *block = realloc(old, sizeof *block + size);
    if (!block)
        return NULL;
    heap_used = heap_used - held + size;
    block->size = size;
    return block->bytes;
}

static void *xml_heap_alloc(size_t size)
{
    return xml_heap_resize(NULL, size);
}

static void xml_heap_free(void *memory)
{
    if (!memory)
        return;
    struct xml_block *block = (struct xml_block *)((char *)memory - offsetof(struct xml_block, bytes));
    heap_used -= block->size;
    free(block);
}

static unsigned xml_count_newlines(const char *text, size_t n)
{
    unsigned count = 0;
    const char *end = text + n;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text)))) {
        count++;
        text++;
    }
    return count;
}

const char *tt_xml_attribute(const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

unsigned tt_xml_line(struct tt_xml *xml)
{
    XML_Index index = XML_GetCurrentByteIndex(xml->parser);
    size_t at = index < 0 ? 0 : (size_t)index;
    if (at >= xml->begin) {
        size_t offset = at - xml->begin;
        if (offset > xml->counted && offset <= xml->length) {
            xml->line += xml_count_newlines(xml->buffer + xml->counted, offset - xml->counted);
            xml->counted = offset;
        }
        return xml->line;
    }
    /* The tag began in an earlier buffer; expat keeps what it has of it in front of the present one. */
    int offset, size;
    const char *input = XML_GetInputContext(xml->parser, &offset, &size);
    size_t before = xml->begin - at;
    if (!input || (size_t)(size - offset) < before)
        return (unsigned)XML_GetCurrentLineNumber(xml->parser);
    return xml->line_begin - xml_count_newlines(input + offset, before);
}

enum tutti_err tt_xml_fail(struct tt_xml *xml, enum tutti_err err, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tt_text_make_printable(text);
    return tt_fail(err, "%s:%u: %s", xml->file, tt_xml_line(xml), text);
}

static void xml_stop(struct tt_xml *xml, enum tutti_err err)
{
    if (err != TUTTI_OK && xml->err == TUTTI_OK) {
        xml->err = err;
        XML_StopParser(xml->parser, XML_FALSE);
    }
}

static void XMLCALL xml_on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct tt_xml *xml = user;
    if (xml->err != TUTTI_OK)
        return;
    xml->moved = true;
    if (++xml->depth > TUTTI_XML_DEPTH)
        xml_stop(xml,
                 tt_xml_fail(xml, TUTTI_ERR_LIMIT, "<%s> is nested more than %d elements deep", name, TUTTI_XML_DEPTH));
    else if (XML_GetSpecifiedAttributeCount(xml->parser) > 2 * TUTTI_XML_ATTRIBUTES)
        xml_stop(xml,
                 tt_xml_fail(xml, TUTTI_ERR_LIMIT, "<%s> has more than %d attributes", name, TUTTI_XML_ATTRIBUTES));
    else if (++xml->elements > TUTTI_XML_ELEMENTS)
        xml_stop(xml, tt_xml_fail(xml, TUTTI_ERR_LIMIT, "more than %d elements", TUTTI_XML_ELEMENTS));
    else
        xml_stop(xml, xml->handlers->start(xml->context, xml, name, attributes));
}

static void XMLCALL xml_on_end(void *user, const XML_Char *name)
{
    struct tt_xml *xml = user;
    (void)name;
    if (xml->err != TUTTI_OK)
        return;
    xml->moved = true;
    xml->depth--;
    xml_stop(xml, xml->handlers->end(xml->context, xml));
}

static void XMLCALL xml_on_text(void *user, const XML_Char *text, int n)
{
    struct tt_xml *xml = user;
    if (xml->err == TUTTI_OK)
        xml_stop(xml, xml->handlers->text(xml->context, xml, text, (size_t)n));
}

static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                               int internal)
{
    struct tt_xml *xml = user;
    (void)system, (void)public, (void)internal;
    xml_stop(xml, tt_xml_fail(xml, TUTTI_ERR_FORMAT,
                              "found a document type declaration (<!DOCTYPE %.64s>), expected none: "
                              "declarations and entities are not accepted",
                              name));
}

/* Old tools write the encoding of their Windows; expat knows UTF-8, UTF-16, ISO-8859-1 and US-ASCII itself. */
static int XMLCALL on_encoding(void *user, const XML_Char *name, XML_Encoding *info)
{
    static const unsigned short windows_1252[32] = {0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                                    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd,
                                                    0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178};
    (void)user;
    if (strcasecmp(name, "windows-1252") != 0 && strcasecmp(name, "cp1252") != 0)
        return XML_STATUS_ERROR;
    for (int i = 0; i < 256; i++)
        info->map[i] = i >= 0x80 && i < 0xa0 ? windows_1252[i - 0x80] : i;
    info->data = NULL;
    info->convert = NULL;
    info->release = NULL;
    return XML_STATUS_OK;
}

void tt_xml_enable_text(struct tt_xml *xml, bool wanted)
{
    XML_SetCharacterDataHandler(xml->parser, wanted && xml->handlers->text ? xml_on_text : NULL);
}

static enum tutti_err xml_parse_error(struct tt_xml *xml)
{
    enum XML_Error code = XML_GetErrorCode(xml->parser);
    unsigned line = (unsigned)XML_GetCurrentLineNumber(xml->parser);
    if (xml->err != TUTTI_OK)
        return xml->err;
    if (heap_exhausted)
        return tt_fail(TUTTI_ERR_LIMIT, "%s:%u: reading it would take more than %zu MiB", xml->file, line,
                       heap_limit / (1024 * 1024));
    if (code == XML_ERROR_NO_MEMORY)
        return tt_fail_memory();
    if (code == XML_ERROR_UNKNOWN_ENCODING)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: found an unknown encoding, expected UTF-8", xml->file, line);
    return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: found %s at column %lu, expected well-formed XML", xml->file, line,
                   XML_ErrorString(code), (unsigned long)XML_GetCurrentColumnNumber(xml->parser) + 1);
}

static enum tutti_err xml_read_all(struct tt_xml *xml, struct tt_byte_source *reader)
{
    size_t size = BUFFER, waiting = 0;
    for (;;) {
        char *buffer = XML_GetBuffer(xml->parser, (int)size);
        if (!buffer)
            return xml_parse_error(xml);
        size_t got = 0;
        enum tutti_err err = reader->read(reader->context, buffer, size, &got);
        if (err != TUTTI_OK)
            return tt_fail_context(err, "%s", xml->file);
        xml->begin += xml->length;
        xml->buffer = buffer;
        xml->length = got;
        xml->counted = 0;
        xml->line_begin = xml->line;
        xml->moved = false;
        if (XML_ParseBuffer(xml->parser, (int)got, got == 0) != XML_STATUS_OK)
            return xml_parse_error(xml);
        xml->line += xml_count_newlines(xml->buffer + xml->counted, xml->length - xml->counted);
        xml->counted = xml->length;
        if (got == 0)
            return TUTTI_OK;
        /* A tag that spans many buffers is scanned from its beginning each time: growing buffers keep the sum linear. */
        waiting = xml->moved ? 0 : waiting + got;
        if (waiting > TUTTI_XML_TAG)
            return tt_fail(TUTTI_ERR_LIMIT, "%s:%u: a tag, comment or text larger than %d MiB", xml->file, xml->line,
                           TUTTI_XML_TAG / (1024 * 1024));
        size = waiting < BUFFER ? BUFFER : waiting < BUFFER_LARGEST ? waiting : BUFFER_LARGEST;
    }
}

enum tutti_err tt_xml_read(const char *file, struct tt_byte_source *reader, const struct tt_xml_handlers *handlers,
                           void *context)
{
    static const XML_Memory_Handling_Suite heap = {xml_heap_alloc, xml_heap_resize, xml_heap_free};
    heap_exhausted = false;
    heap_limit = handlers->heap > 0 ? handlers->heap : TUTTI_XML_HEAP;
    struct tt_xml xml = {.file = file, .handlers = handlers, .context = context, .line = 1, .line_begin = 1};
    xml.parser = XML_ParserCreate_MM(NULL, &heap, NULL);
    if (!xml.parser)
        return tt_fail_memory();
    XML_SetUserData(xml.parser, &xml);
    XML_SetElementHandler(xml.parser, xml_on_start, xml_on_end);
    XML_SetStartDoctypeDeclHandler(xml.parser, on_doctype);
    XML_SetUnknownEncodingHandler(xml.parser, on_encoding, NULL);
    enum tutti_err err = xml_read_all(&xml, reader);
    XML_ParserFree(xml.parser);
    return err;
}
