/* SPDX-License-Identifier: MIT */
/* description.h - the content of a modelDescription.xml, in one form for FMI 1.0, 2.0 and 3.0.
 *
 * Read-only once it is made; everything lives in one arena and is released by tt_description_free(). Text attributes
 * that are absent are NULL; indices that are absent are TUTTI_NONE. */
#ifndef TT_FMU_DESCRIPTION_DESCRIPTION_H
#define TT_FMU_DESCRIPTION_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/bytes.h"
#include "base/findings.h"
#include "fmu/description/type.h"

#define TUTTI_NONE UINT32_MAX

enum tt_interface_kind { TUTTI_CS, TUTTI_ME, TUTTI_SE, TUTTI_INTERFACE_COUNT };

/* Capability flags of an interface, common to all versions. */
enum {
    TUTTI_CAN_STATE = 1u << 0,                     /* get, set and free the FMU state */
    TUTTI_CAN_SERIALIZE = 1u << 1,                 /* and serialise it */
    TUTTI_CAN_DIRECTIONAL = 1u << 2,               /* directional derivatives */
    TUTTI_CAN_ADJOINT = 1u << 3,                   /* adjoint derivatives (3.0) */
    TUTTI_CAN_INPUT_DERIVATIVES = 1u << 4,         /* canInterpolateInputs (1.0, 2.0) */
    TUTTI_CAN_VARIABLE_STEP = 1u << 5,             /* canHandleVariableCommunicationStepSize */
    TUTTI_CAN_EVENT_MODE = 1u << 6,                /* hasEventMode (3.0 CS) */
    TUTTI_CAN_EARLY_RETURN = 1u << 7,              /* mightReturnEarlyFromDoStep (3.0 CS) */
    TUTTI_CAN_INTERMEDIATE = 1u << 8,              /* providesIntermediateUpdate (3.0 CS) */
    TUTTI_CAN_RETURN_AFTER_INTERMEDIATE = 1u << 9, /* canReturnEarlyAfterIntermediateUpdate (3.0 CS) */
    TUTTI_CAN_EVALUATE_DISCRETE = 1u << 10,        /* providesEvaluateDiscreteStates (3.0) */
    TUTTI_NEEDS_TOOL = 1u << 11,                   /* needsExecutionTool; FMI 1.0: tool coupling */
    TUTTI_NEEDS_COMPLETED_STEP = 1u << 12,         /* ME: completedIntegratorStep must be called */
    TUTTI_ONCE_PER_PROCESS = 1u << 13,             /* canBeInstantiatedOnlyOncePerProcess */
    TUTTI_NO_MEMORY_FUNCTIONS = 1u << 14,          /* canNotUseMemoryManagementFunctions (2.0) */
    TUTTI_CAN_RUN_ASYNCHRONOUSLY = 1u << 15,       /* canRunAsynchronuously (1.0, 2.0) */
    TUTTI_CAN_REJECT_STEPS = 1u << 16,             /* canRejectSteps (1.0) */
    TUTTI_CAN_SIGNAL_EVENTS = 1u << 17,            /* canSignalEvents (1.0) */
    TUTTI_CAN_ELEMENT_DEPENDENCIES = 1u << 18,     /* providesPerElementDependencies (3.0) */
    TUTTI_CAN_OUTPUT_DERIVATIVES = 1u << 19,       /* maxOutputDerivativeOrder > 0; set where the library is loaded */
};

struct tt_interface {
    bool present;
    uint32_t flags;
    const char *model_identifier;
    uint32_t max_output_derivative_order;
    double fixed_step;        /* fixedInternalStepSize (3.0), 0: none */
    int32_t input_smoothness; /* recommendedIntermediateInputSmoothness (3.0 CS) */
    unsigned line;
};

struct tt_display_unit {
    const char *name;
    double factor, offset; /* display = factor * value + offset */
    bool inverse;          /* 3.0: display = factor / value */
    uint32_t unit;         /* the unit that it belongs to */
    unsigned line;
};

/* base = factor * value + offset, base unit by exponents of kg m s A K mol cd rad */
struct tt_unit_def {
    const char *name;
    bool defined; /* false: only used (1.0 need not define its units); `line` is where */
    bool has_base;
    int32_t exponents[8];
    double factor, offset;
    uint32_t first_display, displays; /* in desc.displays */
    unsigned line;
};

struct tt_enum_item {
    const char *name, *description;
    int64_t value;
};

/* Kept apart from the variable because few variables have any. */
struct tt_bounds {
    double min, max, nominal; /* -INFINITY, INFINITY, 1 if absent */
    bool has_min, has_max, has_nominal, unbounded, relative;
};

enum tt_interval {
    TUTTI_INTERVAL_CONSTANT,
    TUTTI_INTERVAL_FIXED,
    TUTTI_INTERVAL_TUNABLE,
    TUTTI_INTERVAL_CHANGING,
    TUTTI_INTERVAL_COUNTDOWN,
    TUTTI_INTERVAL_TRIGGERED,
    TUTTI_INTERVAL_UNKNOWN, /* intervalVariability is missing or no word of the standard */
};

/* When a clock ticks (3.0). */
struct tt_clock {
    enum tt_interval interval_variability;
    bool can_be_deactivated, supports_fraction, has_priority;
    uint32_t priority;
    double interval, shift;                               /* intervalDecimal, shiftDecimal; interval 0: not given */
    uint64_t resolution, interval_counter, shift_counter; /* 0: not given */
};

struct tt_type_def {
    const char *name, *description, *quantity;
    enum tt_type type;
    uint32_t unit, display_unit; /* into desc.units, desc.displays */
    const struct tt_bounds *bounds;
    const struct tt_enum_item *items;
    uint32_t item_count;
    const struct tt_clock *clock; /* CLOCK only */
    const char *mime_type;        /* BINARY only; NULL: application/octet-stream */
    uint64_t max_size;            /* BINARY only; 0: not given */
    unsigned line;
};

enum tt_causality {
    TUTTI_LOCAL,
    TUTTI_INPUT,
    TUTTI_OUTPUT,
    TUTTI_PARAMETER,
    TUTTI_CALCULATED_PARAMETER,
    TUTTI_STRUCTURAL_PARAMETER,
    TUTTI_INDEPENDENT,
};
enum tt_variability { TUTTI_CONTINUOUS, TUTTI_DISCRETE, TUTTI_TUNABLE, TUTTI_FIXED, TUTTI_CONSTANT };
enum tt_initial { TUTTI_EXACT, TUTTI_APPROX, TUTTI_CALCULATED, TUTTI_INITIAL_NONE };

struct tt_dimension {
    uint64_t start;    /* the extent, or its start value if `variable` is changed */
    uint32_t variable; /* index of the structural parameter (or constant) that holds the extent */
};

/* Attributes that only some variables of FMI 3.0 have. */
struct tt_var_more {
    const uint32_t *clocks;       /* clock_count indices into desc.vars */
    const struct tt_clock *clock; /* CLOCK only: own over the declared type's */
    const char *mime_type;        /* BINARY only: own over the declared type's */
    uint64_t max_size;
};

struct tt_var {
    const char *name, *description;
    uint32_t reference;
    uint8_t type, causality, variability, initial; /* the enums above; defaults of the standard filled in */
    bool alias;                                    /* 1.0 alias, negatedAlias: a second variable has this reference */
    bool negated;      /* 1.0 negatedAlias: the variable is minus the value of its reference */
    bool intermediate; /* 3.0 intermediateUpdate */
    bool multiple_set; /* canHandleMultipleSetPerTimeInstant; true if absent */
    bool reinit;
    bool initial_given; /* `initial` was in the file, not a default */
    uint8_t dimension_count;
    uint32_t type_def;              /* into desc.types */
    uint32_t unit;                  /* into desc.units, own or the declared type's */
    uint32_t display_unit;          /* into desc.displays */
    uint32_t derivative_of;         /* into desc.vars */
    uint32_t previous;              /* 3.0: clocked state's previous, into desc.vars */
    const struct tt_bounds *bounds; /* own over the declared type's; NULL: none given */
    const struct tt_dimension *dimensions;
    const void *start; /* start_count values, laid out as type.h defines; NULL: none */
    uint32_t start_count;
    uint32_t clock_count; /* 3.0: clocks that this variable belongs to */
    unsigned line;
    const struct tt_var_more *more; /* NULL: all of it is absent */
};

/* 3.0 <Alias>: another name of a variable. (FMI 1 and 2 aliases are variables that share a reference.) */
struct tt_alias {
    const char *name, *description;
    uint32_t variable, display_unit;
    unsigned line;
};

enum tt_dependency_kind {
    TUTTI_DEPENDENT,
    TUTTI_DEPENDENCY_CONSTANT,
    TUTTI_DEPENDENCY_FIXED,
    TUTTI_DEPENDENCY_TUNABLE,
    TUTTI_DEPENDENCY_DISCRETE
};

/* An entry of the model structure. */
struct tt_unknown {
    uint32_t variable;
    bool has_dependencies; /* false: may depend on every known */
    uint32_t dependency_count;
    const uint32_t *dependencies; /* variable indices */
    const uint8_t *kinds;         /* enum tt_dependency_kind; NULL: all `dependent` */
    unsigned line;
};

struct tt_unknowns {
    const struct tt_unknown *items;
    uint32_t count;
    /* The list was in the file. FMI 1.0 has none: its outputs are made from causality and DirectDependency. Where
     * FMI 2.0 or 3.0 files lack it, outputs are made from causality, and without any ModelStructure derivatives are
     * made from the `derivative` attributes. */
    bool given;
};

struct tt_experiment {
    bool has_start, has_stop, has_tolerance, has_step;
    double start, stop, tolerance, step;
    unsigned line;
};

struct tt_description {
    int fmi;                        /* 1, 2 or 3 */
    const char *fmi_version;        /* as written: "2.0" */
    const char *model_name, *token; /* token: guid or instantiationToken; NULL if it is missing */
    const char *description, *author, *version, *copyright, *license, *tool, *date, *naming;
    struct tt_interface interfaces[TUTTI_INTERFACE_COUNT];
    struct tt_experiment experiment;
    uint32_t event_indicator_count; /* scalars; 3.0: at the start sizes of arrays */
    uint32_t state_count;           /* continuous states, counted likewise */
    unsigned line;                  /* of the root element */

    const struct tt_unit_def *units;
    uint32_t unit_count;
    const struct tt_display_unit *displays;
    uint32_t display_count;
    const struct tt_type_def *types;
    uint32_t type_count;
    const char *const *log_categories;
    uint32_t log_category_count;
    const char *const *annotations; /* names of vendor tools (1, 2) or annotation types (3) */
    uint32_t annotation_count;

    const struct tt_var *vars;
    uint32_t var_count;
    const struct tt_alias *aliases;
    uint32_t alias_count;

    struct tt_unknowns outputs, derivatives, initial_unknowns, clocked_states, event_indicators;

    struct tt_arena arena;
    struct tt_map names; /* of variables and aliases -> index */
};

/* Reads a description. `file` is its name in messages ("ball.fmu/modelDescription.xml"). Everything odd but usable is
 * reported to `findings` (may be NULL) and read with its most plausible meaning; otherwise TUTTI_ERR_FORMAT, with file
 * and line; TUTTI_ERR_LIMIT beyond the bounds in xml.h and builder.h. */
TUTTI_CHECKED enum tutti_err tt_description_read(struct tt_description **out, const char *file,
                                                 struct tt_byte_source *reader, struct tt_findings *findings);
void tt_description_free(struct tt_description *desc);

/* Index of a variable by its name or an alias of it, or TUTTI_NONE. */
uint32_t tt_description_find(const struct tt_description *desc, const char *name);
/* Finds a variable by the first `length` bytes of `name`. */
uint32_t tt_description_find_n(const struct tt_description *desc, const char *name, size_t length);
/* The name in desc nearest to `name`, for messages, or NULL. */
const char *tt_description_nearest(const struct tt_description *desc, const char *name);
/* Elements of a variable at the start sizes of its dimensions (1 for a scalar); UINT64_MAX if that does not fit. */
uint64_t tt_description_var_size(const struct tt_var *var);
/* Returns true if the variable can be set inside a step of Co-Simulation (FMI 3.0's intermediate update): a continuous
 * input of Float64 or Float32 with intermediateUpdate. */
bool tt_description_var_moves(const struct tt_var *var);
/* The keywords of FMI 2.0 and 3.0 by their enums, ended by NULL; "continuous", "input", "exact" for any value. Static. */
extern const char *const tt_description_causality_words[],
    *const tt_description_variability_words[], *const tt_description_initial_words[], *const tt_interval_words[];
const char *tt_description_causality_name(enum tt_causality causality);
const char *tt_description_variability_name(enum tt_variability variability);
const char *tt_description_initial_name(enum tt_initial initial);
const char *tt_description_interval_name(enum tt_interval interval);

/* Checks a description for faults that the reader ignores: names, units, combinations, starts, bounds, structure.
 * Reports to `findings`. The reader itself has reported dangling references, unreadable values and inconsistent lists.
 * At most some dozens of findings of a kind are reported one by one; a final line counts the remaining ones. */
TUTTI_CHECKED enum tutti_err tt_description_check(struct tt_description *desc, const char *file,
                                                  struct tt_findings *findings);

#endif
