/* SPDX-License-Identifier: MIT */
/* builder.h - the common part of the readers of the three FMI versions. Private to src/fmu/description.
 *
 * A version is a tree of elements (struct tt_builder_element), each with actions for its start and end. Before `start`
 * is called, the attributes lie in the builder by their ids; `start` takes the attributes it handles with
 * tt_builder_take_attribute(); the remaining ones are reported as unknown. So the attributes are passed once, and the
 * code that reads them is the only list of allowed attributes. */
#ifndef TT_FMU_DESCRIPTION_BUILDER_H
#define TT_FMU_DESCRIPTION_BUILDER_H

#include "base/findings.h"
#include "base/text.h"
#include "base/xml.h"
#include "fmu/description/description.h"

enum {
    TUTTI_LIST_LIMIT = 10 * 1000 * 1000,        /* variables, units, unknowns, ...: entries of any list */
    TUTTI_DEPENDENCY_LIMIT = 200 * 1000 * 1000, /* dependencies of all unknowns together */
    TUTTI_DIMENSION_LIMIT = 32,
};

/* clang-format off */
#define TUTTI_ATTRIBUTES(X)                                                                                            \
    X(A) X(K) X(alias) X(author) X(canBeDeactivated) X(canBeInstantiatedOnlyOncePerProcess) X(canGetAndSetFMUState)    \
    X(canGetAndSetFMUstate) X(canHandleEvents) X(canHandleMultipleSetPerTimeInstant)                                   \
    X(canHandleVariableCommunicationStepSize) X(canInterpolateInputs) X(canNotUseMemoryManagementFunctions)            \
    X(canRejectSteps) X(canReturnEarlyAfterIntermediateUpdate) X(canRunAsynchronuously) X(canSerializeFMUState)        \
    X(canSerializeFMUstate) X(canSignalEvents) X(causality) X(cd) X(clocks) X(completedIntegratorStepNotNeeded)        \
    X(copyright) X(declaredType) X(dependencies) X(dependenciesKind) X(derivative) X(description) X(displayUnit)       \
    X(factor) X(fixed) X(fixedInternalStepSize) X(fmiVersion) X(gain) X(generationDateAndTime) X(generationTool)       \
    X(guid) X(hasEventMode) X(index) X(initial) X(instantiationToken) X(intermediateUpdate) X(intervalCounter)         \
    X(intervalDecimal) X(intervalVariability) X(inverse) X(kg) X(license) X(m) X(max) X(maxOutputDerivativeOrder)      \
    X(maxSize) X(mightReturnEarlyFromDoStep) X(mimeType) X(min) X(modelIdentifier) X(modelName) X(mol) X(name)         \
    X(needsCompletedIntegratorStep) X(needsExecutionTool) X(nominal) X(numberOfContinuousStates)                       \
    X(numberOfEventIndicators) X(offset) X(previous) X(priority) X(providesAdjointDerivatives)                         \
    X(providesDirectionalDerivative) X(providesDirectionalDerivatives) X(providesEvaluateDiscreteStates)               \
    X(providesIntermediateUpdate) X(providesPerElementDependencies) X(quantity) X(rad)                                 \
    X(recommendedIntermediateInputSmoothness) X(reinit) X(relativeQuantity) X(resolution) X(s) X(shiftCounter)         \
    X(shiftDecimal) X(start) X(startTime) X(stepSize) X(stopTime) X(supportsFraction) X(tolerance) X(type)             \
    X(unbounded) X(unit) X(value) X(valueReference) X(variability) X(variableNamingConvention) X(version)
/* clang-format on */

enum tt_builder_attribute {
    ATTR_NONE,
#define X(name) ATTR_##name,
    TUTTI_ATTRIBUTES(X)
#undef X
        ATTR_COUNT,
};

/* A growing array on the heap. Zeroed with `size` set is empty. */
struct tt_builder_list {
    void *items;
    uint32_t count;
    size_t capacity;
    size_t size; /* of an item */
};

/* A description with the arrays that stay on the heap; a struct tt_description is always the first member of one. */
struct tt_builder_description {
    struct tt_description desc;
    struct tt_builder_list vars, aliases, units, displays, types, categories, annotations;
    struct tt_builder_list unknowns[5]; /* enum tt_builder_unknown_list */
};

enum tt_builder_unknown_list { LIST_OUTPUTS, LIST_DERIVATIVES, LIST_INITIAL, LIST_CLOCKED, LIST_INDICATORS };

struct tt_builder;

struct tt_builder_element {
    const char *name;
    enum tutti_err (*start)(struct tt_builder *build, int tag); /* NULL: its attributes mean nothing to us */
    enum tutti_err (*end)(struct tt_builder *build);            /* NULL: nothing to do */
    const struct tt_builder_element *children;                  /* the last has no name; NULL: none */
    int tag;                                                    /* passed to start: the type, the list, ... */
    bool foreign;                                               /* the content belongs to a different tool */
};

/* The attributes that variables and types share, as texts of the element that is being read. */
struct tt_builder_properties {
    const char *declared_type, *unit, *display_unit, *start;
    struct tt_bounds bounds;
    bool has_bounds, has_unbounded, has_relative;
};

/* An unresolved name, looked up again at the end of the file, because parts may be in any order. */
enum tt_builder_pending_kind { PENDING_VAR_TYPE, PENDING_TYPE_DISPLAY, PENDING_VAR_DISPLAY, PENDING_ALIAS_DISPLAY };
struct tt_builder_pending {
    enum tt_builder_pending_kind kind;
    uint32_t owner;
    const char *name;
    unsigned line;
};

/* 1.0: <Name> in DirectDependency. */
struct tt_builder_named_dependency {
    uint32_t output;
    const char *name;
    unsigned line;
};

struct tt_builder {
    struct tt_builder_description *whole;
    struct tt_description *desc;
    struct tt_limited_findings report;
    struct tt_xml *xml;

    struct tt_builder_element document, root[2]; /* the root's children are those of the version that it names */
    const struct tt_builder_element *stack[TUTTI_XML_DEPTH + 1];
    unsigned depth; /* known elements that are open */
    unsigned skip;  /* depth of unknown elements inside the current one */

    uint8_t ids[512];               /* hash of an attribute's name -> id, see builder.c */
    const char *values[ATTR_COUNT]; /* of the present element's attributes; NULL: absent or taken */

    const char *what, *name; /* the part being read, for findings: variable "x" */
    unsigned line;           /* where it begins */

    uint32_t unit; /* that is being read */
    struct tt_map unit_names, type_names, display_names;
    struct tt_builder_list pending, names; /* struct tt_builder_pending, struct tt_builder_named_dependency */
    struct tt_builder_list items;          /* struct tt_enum_item of the type being read */
    struct tt_builder_list dimensions;     /* struct tt_dimension of the variable being read */
    struct tt_builder_list strings;        /* const char * or struct tt_bytes: its starts */
    struct tt_builder_list words;          /* uint32_t: a list attribute being read */
    struct tt_text key, text;
    uint64_t dependency_count;
    bool typed; /* 1.0, 2.0: the variable's or type's type element was there */
    bool variability_given;
    bool fixed;      /* 1.0 */
    bool has_direct; /* 1.0: the variable has a DirectDependency */
    bool has_structure, has_variables;
};

/* builder.c */

/* A zeroed item at the end, or NULL with the error set in *err (`what` for the message: "variables"). */
void *tt_builder_push(struct tt_builder *build, struct tt_builder_list *list, const char *what, enum tutti_err *err);
/* Reports a finding about the part being read: prefixed with `variable "x": `. The format must be a literal. */
void tt_builder_report_error(struct tt_builder *build, const char *format, ...) TUTTI_PRINTF(2, 3);
void tt_builder_report_warning(struct tt_builder *build, const char *format, ...) TUTTI_PRINTF(2, 3);
/* From here on findings are about this, at the present line. */
void tt_builder_set_subject(struct tt_builder *build, const char *what, const char *name);
/* A copy in the arena. */
TUTTI_CHECKED enum tutti_err tt_builder_copy_text(struct tt_builder *build, const char **out, const char *text);

extern const struct tt_xml_handlers tt_builder_handlers;
TUTTI_CHECKED enum tutti_err tt_builder_init(struct tt_builder *build, const char *file, struct tt_findings *findings);
void tt_builder_fini(struct tt_builder *build);

/* The text of an attribute, or NULL. */
static inline const char *tt_builder_take_attribute(struct tt_builder *build, enum tt_builder_attribute id)
{
    const char *value = build->values[id];
    build->values[id] = NULL;
    return value;
}

/* builder.c: each takes an attribute and reads it; absent or unreadable leaves *out as it is (false). */
bool tt_builder_read_bool(struct tt_builder *build, enum tt_builder_attribute id, bool *out);
bool tt_builder_read_double(struct tt_builder *build, enum tt_builder_attribute id, double *out);
bool tt_builder_read_uint32(struct tt_builder *build, enum tt_builder_attribute id, uint32_t *out);
bool tt_builder_read_uint64(struct tt_builder *build, enum tt_builder_attribute id, uint64_t *out);
bool tt_builder_read_int32(struct tt_builder *build, enum tt_builder_attribute id, int32_t *out);
/* The index of the word among `words` (the last is NULL). */
bool tt_builder_read_word(struct tt_builder *build, enum tt_builder_attribute id, const char *const *words,
                          uint8_t *out);
void tt_builder_read_flag(struct tt_builder *build, enum tt_builder_attribute id, uint32_t *flags, uint32_t flag);
/* The name of an attribute. */
const char *tt_builder_attribute_name(enum tt_builder_attribute id);
/* Parses numbers separated by white space into build->words; false if one is not a uint32. */
TUTTI_CHECKED enum tutti_err tt_builder_read_numbers(struct tt_builder *build, const char *text, bool *good);
/* The start values of var from the text of a `start` attribute. */
TUTTI_CHECKED enum tutti_err tt_builder_read_start(struct tt_builder *build, struct tt_var *var, const char *text);
/* Bytes written as hexadecimal digits; the size 0 if they are not. */
TUTTI_CHECKED enum tutti_err tt_builder_read_bytes(struct tt_builder *build, const char *text, struct tt_bytes *out);

/* elements.c: units, types and other elements that versions share. */
enum tutti_err tt_elements_unit(struct tt_builder *build, int tag); /* tag: the attribute with its name */
enum tutti_err tt_elements_base_unit(struct tt_builder *build, int tag);
enum tutti_err tt_elements_display_unit(struct tt_builder *build, int tag); /* likewise */
enum tutti_err tt_elements_item(struct tt_builder *build, int tag);
/* Takes the attributes that interfaces of 2.0 and 3.0 have in common. tag: enum tt_interface_kind */
TUTTI_CHECKED enum tutti_err tt_elements_interface(struct tt_builder *build, int tag);
enum tutti_err tt_elements_category(struct tt_builder *build, int tag);
enum tutti_err tt_elements_experiment(struct tt_builder *build, int tag);
enum tutti_err tt_elements_annotation(struct tt_builder *build, int tag); /* likewise */
/* Adds a type with name and description. */
TUTTI_CHECKED enum tutti_err tt_elements_new_type(struct tt_builder *build);
/* Takes the attributes of its type element. */
TUTTI_CHECKED enum tutti_err tt_elements_type_kind(struct tt_builder *build, enum tt_type type);
enum tutti_err tt_elements_finish_type(struct tt_builder *build);
struct tt_type_def *tt_elements_last_type(struct tt_builder *build);
/* The unit of this name, made if it is new. */
TUTTI_CHECKED enum tutti_err tt_elements_unit_index(struct tt_builder *build, const char *name, uint32_t *index);
uint32_t tt_elements_find_display(struct tt_builder *build, uint32_t unit, const char *name);

/* elements.c: variables and the entries of the model structure. */
/* Adds a variable with name, reference, description. */
TUTTI_CHECKED enum tutti_err tt_elements_new_var(struct tt_builder *build);
struct tt_var *tt_elements_last_var(struct tt_builder *build); /* the last one */
/* Takes the attributes that types and variables of this type have in common. */
void tt_elements_read_properties(struct tt_builder *build, enum tt_type type, struct tt_builder_properties *properties);
/* The same with type, declaredType and start, for the variable; false if it has a type already. */
bool tt_elements_var_kind(struct tt_builder *build, enum tt_type type, struct tt_builder_properties *properties);
/* Reports a variable that got no type; it is taken for a Real. */
void tt_elements_check_kind(struct tt_builder *build);
/* Sets them in the variable, merged with its declared type. */
TUTTI_CHECKED enum tutti_err tt_elements_apply_properties(struct tt_builder *build, struct tt_var *var,
                                                          const struct tt_builder_properties *properties);
void tt_elements_inherit_type(struct tt_var *var, const struct tt_type_def *type);
/* `initial` where the file has none, by the tables of 2.0 and 3.0. */
enum tt_initial tt_elements_default_initial(int fmi, enum tt_type type, enum tt_causality causality,
                                            enum tt_variability variability);
TUTTI_CHECKED enum tutti_err tt_elements_defer_name(struct tt_builder *build, enum tt_builder_pending_kind kind,
                                                    uint32_t owner, const char *name);
enum tutti_err tt_elements_variables(struct tt_builder *build, int tag);
enum tutti_err tt_elements_structure(struct tt_builder *build, int tag);
enum tutti_err tt_elements_unknown_list(struct tt_builder *build, int tag); /* tag: enum tt_builder_unknown_list */
enum tutti_err tt_elements_unknown(struct tt_builder *build, int tag);      /* likewise */
struct tt_unknowns *tt_elements_list_of(struct tt_description *desc, enum tt_builder_unknown_list list);

/* resolver.c: references become indices once everything is read. */
TUTTI_CHECKED enum tutti_err tt_resolver_run(struct tt_builder *build);

/* The children of the root element in each version. */
extern const struct tt_builder_element tt_schema_fmi1[], tt_schema_fmi2[], tt_schema_fmi3[];

#endif
