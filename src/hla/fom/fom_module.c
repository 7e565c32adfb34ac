/* SPDX-License-Identifier: MIT */
#include "hla/fom/fom_module.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct module_block {
    const char *bytes;
    size_t size;
};

static enum tutti_err fom_module_read_block(void *context, void *buffer, size_t size, size_t *got)
{
    struct module_block *block = context;
    *got = block->size < size ? block->size : size;
    if (*got)
        memcpy(buffer, block->bytes, *got);
    block->bytes += *got;
    block->size -= *got;
    return TUTTI_OK;
}

static bool element_has_name(const struct tt_tree_node *node, const char *local)
{
    return node->local && strcmp(node->local, local) == 0;
}

const struct tt_tree_node *tt_fom_module_child(const struct tt_tree_node *node, const char *local)
{
    const struct tt_tree_node *child = node ? node->first : NULL;
    while (child && !element_has_name(child, local))
        child = child->next;
    return child;
}

const struct tt_tree_node *tt_fom_module_next(const struct tt_tree_node *node, const char *local)
{
    do
        node = node->next;
    while (node && !element_has_name(node, local));
    return node;
}

static bool fom_module_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *tt_fom_module_text(const struct tt_tree_node *node, size_t *length)
{
    const char *text = node && node->first && node->first->text ? node->first->text : "";
    while (fom_module_is_space(*text))
        text++;
    size_t n = strlen(text);
    while (n && fom_module_is_space(text[n - 1]))
        n--;
    *length = n;
    return text;
}

/* The edition is in the namespace. */
static enum tutti_err fom_module_check_root(struct tt_fom_module *module)
{
    const struct tt_tree_node *root = module->tree->root;
    const char *file = module->tree->file;
    if (!element_has_name(root, "objectModel"))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: <%s> found, expected <objectModel>: this is no module of a FOM", file,
                       root->line, tt_text_excerpt(root->local).text);
    for (unsigned i = 0; i < root->attribute_count; i++) {
        const struct tt_tree_attribute *a = &root->attributes[i];
        if (strncmp(a->name, "xmlns", 5) != 0 || !strstr(a->value, "IEEE1516"))
            continue;
        module->may_extend = strstr(a->value, "IEEE1516-2025") != NULL;
        if (module->may_extend || strstr(a->value, "IEEE1516-2010"))
            return TUTTI_OK;
        return tt_fail(TUTTI_ERR_FORMAT,
                       "%s:%u: the namespace %s is not known; modules of IEEE 1516-2010 and -2025 are read", file,
                       root->line, tt_text_excerpt(a->value).text);
    }
    return TUTTI_OK; /* as 2010: tools that leave the namespace out are of that time */
}

/* Bytes on their way to the XML reader. */
struct hashing_reader {
    struct tt_byte_source *reader;
    crypto_generichash_state state;
};

static enum tutti_err read_and_hash(void *context, void *buffer, size_t size, size_t *got)
{
    struct hashing_reader *digested = context;
    TRY(digested->reader->read(digested->reader->context, buffer, size, got));
    crypto_generichash_update(&digested->state, buffer, *got);
    return TUTTI_OK;
}

enum tutti_err tt_fom_module_read(struct tt_fom_module **out, const char *file, struct tt_byte_source *reader)
{
    *out = NULL;
    struct tt_fom_module *module = calloc(1, sizeof *module);
    if (!module)
        return tt_fail_memory();
    struct hashing_reader digested = {.reader = reader};
    struct tt_byte_source through = {read_and_hash, &digested};
    crypto_generichash_init(&digested.state, NULL, 0, TUTTI_FOM_DIGEST);
    enum tutti_err err = tt_tree_read(&module->tree, file, &through);
    crypto_generichash_final(&digested.state, module->digest, TUTTI_FOM_DIGEST);
    if (!err)
        err = fom_module_check_root(module);
    if (err) {
        tt_fom_module_free(module);
        return err;
    }
    *out = module;
    return TUTTI_OK;
}

enum tutti_err tt_fom_module_read_bytes(struct tt_fom_module **module, const char *file, const void *bytes, size_t size)
{
    struct module_block block = {bytes, size};
    struct tt_byte_source reader = {fom_module_read_block, &block};
    return tt_fom_module_read(module, file, &reader);
}

enum tutti_err tt_fom_module_read_standard(struct tt_fom_module **module)
{
    return tt_fom_module_read_bytes(module, "HLAstandardMIM", tt_fom_module_standard_mim,
                                    strlen(tt_fom_module_standard_mim));
}

void tt_fom_module_free(struct tt_fom_module *module)
{
    if (!module)
        return;
    tt_tree_free(module->tree);
    free(module);
}

#define BASIC(name, size, endian)                                                                                      \
    "<basicData><name>" #name "</name><size>" #size "</size><endian>" #endian "</endian></basicData>"
#define SIMPLE(name, representation)                                                                                   \
    "<simpleData><name>" #name "</name><representation>" #representation "</representation></simpleData>"
#define ARRAY(name, type, cardinality, encoding)                                                                       \
    "<arrayData><name>" #name "</name><dataType>" #type "</dataType><cardinality>" #cardinality                        \
    "</cardinality><encoding>" #encoding "</encoding></arrayData>"

#define ATTRIBUTE(name, type)                                                                                          \
    "<attribute><name>" #name "</name><dataType>" #type                                                                \
    "</dataType><transportation>HLAreliable</transportation><order>Receive</order></attribute>"
#define PARAMETER(name, type) "<parameter><name>" #name "</name><dataType>" #type "</dataType></parameter>"
#define RECEIVE "<transportation>HLAreliable</transportation><order>Receive</order>"

/* One element to a line. */
/* clang-format off */
const char tt_fom_module_standard_mim[] =
    "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">"
    "<objects><objectClass><name>HLAobjectRoot</name>"
    "<attribute><name>HLAprivilegeToDeleteObject</name><dataType>HLAtoken</dataType>"
    "<transportation>HLAreliable</transportation><order>TimeStamp</order></attribute>"
    "<objectClass><name>HLAmanager</name>"
    "<objectClass><name>HLAfederate</name>" TUTTI_MOM_FEDERATE_ATTRIBUTES(ATTRIBUTE) "</objectClass>"
    "<objectClass><name>HLAfederation</name>" TUTTI_MOM_FEDERATION_ATTRIBUTES(ATTRIBUTE) "</objectClass>"
    "</objectClass></objectClass></objects>"
    "<interactions><interactionClass><name>HLAinteractionRoot</name>"
    "<transportation>HLAreliable</transportation><order>TimeStamp</order>"
    "<interactionClass><name>HLAmanager</name>" RECEIVE
    "<interactionClass><name>HLAfederate</name>" RECEIVE PARAMETER(HLAfederate, HLAhandle)
    "<interactionClass><name>HLAreport</name>" RECEIVE
    "<interactionClass><name>HLAreportFederateLost</name>" RECEIVE
    PARAMETER(HLAfederateName, HLAunicodeString)
    PARAMETER(HLAtimestamp, HLAlogicalTime)
    PARAMETER(HLAfaultDescription, HLAunicodeString)
    "</interactionClass></interactionClass></interactionClass></interactionClass></interactionClass></interactions>"
    "<transportations>"
    "<transportation><name>HLAreliable</name><reliable>Yes</reliable></transportation>"
    "<transportation><name>HLAbestEffort</name><reliable>No</reliable></transportation>"
    "</transportations>"
    "<dataTypes><basicDataRepresentations>"
    BASIC(HLAinteger16BE, 16, Big)
    BASIC(HLAinteger16LE, 16, Little)
    BASIC(HLAinteger32BE, 32, Big)
    BASIC(HLAinteger32LE, 32, Little)
    BASIC(HLAinteger64BE, 64, Big)
    BASIC(HLAinteger64LE, 64, Little)
    BASIC(HLAunsignedInteger16BE, 16, Big)
    BASIC(HLAunsignedInteger16LE, 16, Little)
    BASIC(HLAunsignedInteger32BE, 32, Big)
    BASIC(HLAunsignedInteger32LE, 32, Little)
    BASIC(HLAunsignedInteger64BE, 64, Big)
    BASIC(HLAunsignedInteger64LE, 64, Little)
    BASIC(HLAfloat32BE, 32, Big)
    BASIC(HLAfloat32LE, 32, Little)
    BASIC(HLAfloat64BE, 64, Big)
    BASIC(HLAfloat64LE, 64, Little)
    BASIC(HLAoctetPairBE, 16, Big)
    BASIC(HLAoctetPairLE, 16, Little)
    BASIC(HLAoctet, 8, Big)
    "</basicDataRepresentations><simpleDataTypes>"
    SIMPLE(HLAASCIIchar, HLAoctet)
    SIMPLE(HLAunicodeChar, HLAoctetPairBE)
    SIMPLE(HLAbyte, HLAoctet)
    SIMPLE(HLAinteger64Time, HLAinteger64BE)
    SIMPLE(HLAfloat64Time, HLAfloat64BE)
    "</simpleDataTypes><enumeratedDataTypes>"
    "<enumeratedData><name>HLAboolean</name><representation>HLAinteger32BE</representation>"
    "<enumerator><name>HLAfalse</name><value>0</value></enumerator>"
    "<enumerator><name>HLAtrue</name><value>1</value></enumerator></enumeratedData>"
    "<enumeratedData><name>HLAswitch</name><representation>HLAinteger32BE</representation>"
    "<enumerator><name>Enabled</name><value>1</value></enumerator>"
    "<enumerator><name>Disabled</name><value>0</value></enumerator></enumeratedData>"
    "</enumeratedDataTypes><arrayDataTypes>"
    ARRAY(HLAASCIIstring, HLAASCIIchar, Dynamic, HLAvariableArray)
    ARRAY(HLAunicodeString, HLAunicodeChar, Dynamic, HLAvariableArray)
    ARRAY(HLAopaqueData, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAtoken, HLAbyte, 0, HLAfixedArray)
    ARRAY(HLAhandle, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAhandleList, HLAhandle, Dynamic, HLAvariableArray)
    ARRAY(HLAlogicalTime, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAtimeInterval, HLAbyte, Dynamic, HLAvariableArray)
    ARRAY(HLAmoduleDesignatorList, HLAunicodeString, Dynamic, HLAvariableArray)
    "</arrayDataTypes></dataTypes>"
    "</objectModel>";
/* clang-format on */
