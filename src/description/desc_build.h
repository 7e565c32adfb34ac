/* SPDX-License-Identifier: MIT */
/* desc_build.h - what the readers of the three FMI versions share while a description is made. Private to desc*.c.
 *
 * A version is a tree of elements (struct tutti_element), each with what to do where it starts and ends. Before `start`
 * is called, the attributes lie in the builder by their ids; `start` takes those that it knows with tutti_build_take(),
 * and what remains is reported as unknown. So there is one pass over the attributes and no list of allowed ones
 * besides the code that reads them. */
#ifndef TUTTI_DESCRIPTION_DESC_BUILD_H
#define TUTTI_DESCRIPTION_DESC_BUILD_H

#include "base/str.h"
#include "description/desc.h"
#include "description/desc_report.h"
#include "base/xml.h"

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

enum tutti_attribute {
    ATTR_NONE,
#define X(name) ATTR_##name,
    TUTTI_ATTRIBUTES(X)
#undef X
        ATTR_COUNT,
};

/* A growing array on the heap. Zeroed with `size` set is empty. */
struct tutti_list {
    void *items;
    uint32_t count;
    size_t capacity;
    size_t size; /* of an item */
};

/* A description with the arrays that stay on the heap; a struct tutti_desc is always the first member of one. */
struct tutti_desc_whole {
    struct tutti_desc desc;
    struct tutti_list vars, aliases, units, displays, types, categories, annotations;
    struct tutti_list unknowns[5]; /* enum tutti_unknown_list */
};

enum tutti_unknown_list { LIST_OUTPUTS, LIST_DERIVATIVES, LIST_INITIAL, LIST_CLOCKED, LIST_INDICATORS };

struct tutti_build;

struct tutti_element {
    const char *name;
    enum tutti_err (*start)(struct tutti_build *build, int tag); /* NULL: its attributes mean nothing to us */
    enum tutti_err (*end)(struct tutti_build *build);            /* NULL: nothing to do */
    const struct tutti_element *children;                        /* the last has no name; NULL: none */
    int tag;                                                     /* handed to start: the type, the list, ... */
    bool foreign;                                                /* what is inside is the business of some other tool */
};

/* The attributes that variables and types share, as texts of the element that is being read. */
struct tutti_properties {
    const char *declared_type, *unit, *display_unit, *start;
    struct tutti_bounds bounds;
    bool has_bounds, has_unbounded, has_relative;
};

/* A name that nothing has (yet): looked up again at the end of the file, because parts may be in any order. */
enum tutti_pending_kind { PENDING_VAR_TYPE, PENDING_TYPE_DISPLAY, PENDING_VAR_DISPLAY, PENDING_ALIAS_DISPLAY };
struct tutti_pending {
    enum tutti_pending_kind kind;
    uint32_t owner;
    const char *name;
    unsigned line;
};

/* 1.0: <Name> in DirectDependency. */
struct tutti_named_dependency {
    uint32_t output;
    const char *name;
    unsigned line;
};

struct tutti_build {
    struct tutti_desc_whole *whole;
    struct tutti_desc *desc;
    struct tutti_desc_report report;
    struct tutti_xml *xml;

    struct tutti_element document, root[2]; /* the root's children are those of the version that it names */
    const struct tutti_element *stack[TUTTI_XML_DEPTH + 1];
    unsigned depth; /* known elements that are open */
    unsigned skip;  /* unknown ones inside of them */

    uint8_t ids[512];               /* hash of an attribute's name -> id, see desc_build.c */
    const char *values[ATTR_COUNT]; /* of the present element's attributes; NULL: absent or taken */

    const char *what, *name; /* what is being read, for findings: variable "x" */
    unsigned line;           /* where it begins */

    uint32_t unit; /* that is being read */
    struct tutti_map unit_names, type_names, display_names;
    struct tutti_list pending, names; /* struct tutti_pending, struct tutti_named_dependency */
    struct tutti_list items;          /* struct tutti_enum_item of the type being read */
    struct tutti_list dimensions;     /* struct tutti_dimension of the variable being read */
    struct tutti_list strings;        /* const char * or struct tutti_bytes: its starts */
    struct tutti_list words;          /* uint32_t: a list attribute being read */
    struct tutti_text key, text;
    uint64_t dependency_count;
    bool typed; /* 1.0, 2.0: the variable's or type's type element was there */
    bool variability_given;
    bool fixed;      /* 1.0 */
    bool has_direct; /* 1.0: the variable has a DirectDependency */
    bool has_structure, has_variables;
};

/* desc_build.c */

/* A zeroed item at the end, or NULL with the error set in *err (`what` for the message: "variables"). */
void *tutti_build_push(struct tutti_build *build, struct tutti_list *list, const char *what, enum tutti_err *err);
/* Finding about what is being read: `variable "x": ` goes before the words. The format must be a literal. */
void tutti_build_error(struct tutti_build *build, const char *format, ...) TUTTI_PRINTF(2, 3);
void tutti_build_warning(struct tutti_build *build, const char *format, ...) TUTTI_PRINTF(2, 3);
/* From here on findings are about this, at the present line. */
void tutti_build_subject(struct tutti_build *build, const char *what, const char *name);
/* A copy in the arena. */
TUTTI_CHECKED enum tutti_err tutti_build_text(struct tutti_build *build, const char **out, const char *text);

extern const struct tutti_xml_handlers tutti_build_handlers;
TUTTI_CHECKED enum tutti_err tutti_build_init(struct tutti_build *build, const char *file,
                                              struct tutti_findings *findings);
void tutti_build_fini(struct tutti_build *build);

/* The text of an attribute, or NULL. */
static inline const char *tutti_build_take(struct tutti_build *build, enum tutti_attribute id)
{
    const char *value = build->values[id];
    build->values[id] = NULL;
    return value;
}

/* desc_value.c: each takes an attribute and reads it; absent or unreadable leaves *out as it is (false). */
bool tutti_build_bool(struct tutti_build *build, enum tutti_attribute id, bool *out);
bool tutti_build_double(struct tutti_build *build, enum tutti_attribute id, double *out);
bool tutti_build_uint32(struct tutti_build *build, enum tutti_attribute id, uint32_t *out);
bool tutti_build_uint64(struct tutti_build *build, enum tutti_attribute id, uint64_t *out);
bool tutti_build_int32(struct tutti_build *build, enum tutti_attribute id, int32_t *out);
/* The index of the word among `words` (the last is NULL). */
bool tutti_build_word(struct tutti_build *build, enum tutti_attribute id, const char *const *words, uint8_t *out);
void tutti_build_flag(struct tutti_build *build, enum tutti_attribute id, uint32_t *flags, uint32_t flag);
/* The name of an attribute. */
const char *tutti_attribute_name(enum tutti_attribute id);
/* Numbers with white space between, into build->words; false if one is no uint32. */
TUTTI_CHECKED enum tutti_err tutti_build_numbers(struct tutti_build *build, const char *text, bool *good);
/* The start values of var from the text of a `start` attribute. */
TUTTI_CHECKED enum tutti_err tutti_build_start(struct tutti_build *build, struct tutti_var *var, const char *text);
/* Bytes written as hexadecimal digits; the size 0 if they are not. */
TUTTI_CHECKED enum tutti_err tutti_build_bytes(struct tutti_build *build, const char *text, struct tutti_bytes *out);

/* desc_common.c: units, types and other elements that versions share. */
enum tutti_err tutti_build_unit(struct tutti_build *build, int tag); /* tag: the attribute with its name */
enum tutti_err tutti_build_base_unit(struct tutti_build *build, int tag);
enum tutti_err tutti_build_display_unit(struct tutti_build *build, int tag); /* likewise */
enum tutti_err tutti_build_item(struct tutti_build *build, int tag);
/* Takes the attributes that interfaces of 2.0 and 3.0 have in common. tag: enum tutti_interface_kind */
TUTTI_CHECKED enum tutti_err tutti_build_interface(struct tutti_build *build, int tag);
enum tutti_err tutti_build_category(struct tutti_build *build, int tag);
enum tutti_err tutti_build_experiment(struct tutti_build *build, int tag);
enum tutti_err tutti_build_annotation(struct tutti_build *build, int tag); /* likewise */
/* Adds a type with name and description. */
TUTTI_CHECKED enum tutti_err tutti_build_new_type(struct tutti_build *build);
/* Takes the attributes of its type element. */
TUTTI_CHECKED enum tutti_err tutti_build_type_kind(struct tutti_build *build, enum tutti_type type);
enum tutti_err tutti_build_end_type(struct tutti_build *build);
struct tutti_type_def *tutti_build_last_type(struct tutti_build *build);
/* The unit of this name, made if it is new. */
TUTTI_CHECKED enum tutti_err tutti_build_unit_index(struct tutti_build *build, const char *name, uint32_t *index);
uint32_t tutti_build_find_display(struct tutti_build *build, uint32_t unit, const char *name);

/* desc_var.c: variables and the entries of the model structure. */
/* Adds a variable with name, reference, description. */
TUTTI_CHECKED enum tutti_err tutti_build_new_var(struct tutti_build *build);
struct tutti_var *tutti_build_var(struct tutti_build *build); /* the last one */
/* Takes the attributes that types and variables of this type have in common. */
void tutti_build_properties(struct tutti_build *build, enum tutti_type type, struct tutti_properties *properties);
/* The same with type, declaredType and start, for the variable; false if it has a type already. */
bool tutti_build_var_kind(struct tutti_build *build, enum tutti_type type, struct tutti_properties *properties);
/* Reports a variable that got no type; it is taken for a Real. */
void tutti_build_check_kind(struct tutti_build *build);
/* Gives them to the variable, with what its declared type adds. */
TUTTI_CHECKED enum tutti_err tutti_build_apply(struct tutti_build *build, struct tutti_var *var,
                                               const struct tutti_properties *properties);
void tutti_build_inherit(struct tutti_var *var, const struct tutti_type_def *type);
/* `initial` where the file has none, by the tables of 2.0 and 3.0. */
enum tutti_initial tutti_build_default_initial(int fmi, enum tutti_type type, enum tutti_causality causality,
                                               enum tutti_variability variability);
TUTTI_CHECKED enum tutti_err tutti_build_postpone(struct tutti_build *build, enum tutti_pending_kind kind,
                                                  uint32_t owner, const char *name);
enum tutti_err tutti_build_variables(struct tutti_build *build, int tag);
enum tutti_err tutti_build_structure(struct tutti_build *build, int tag);
enum tutti_err tutti_build_unknown_list(struct tutti_build *build, int tag); /* tag: enum tutti_unknown_list */
enum tutti_err tutti_build_unknown(struct tutti_build *build, int tag);      /* likewise */
struct tutti_unknowns *tutti_build_unknowns(struct tutti_desc *desc, enum tutti_unknown_list list);

/* desc_resolve.c: references become indices once everything is read. */
TUTTI_CHECKED enum tutti_err tutti_build_resolve(struct tutti_build *build);

/* The children of the root element in each version. */
extern const struct tutti_element tutti_fmi1_elements[], tutti_fmi2_elements[], tutti_fmi3_elements[];

#endif
