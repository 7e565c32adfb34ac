/* SPDX-License-Identifier: MIT */
/* api3.h - FMI 3.0 in C: the types, and one list of all functions.
 *
 * The type names, values and layouts are those of the FMI 3.0 standard. One library serves Co-Simulation (CS), Model
 * Exchange (ME) and Scheduled Execution (SE); its symbols have exactly the listed names. */
#ifndef TT_FMU_API3_H
#define TT_FMU_API3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;

typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

#define fmi3True true
#define fmi3False false
#define fmi3ClockActive true
#define fmi3ClockInactive false

#define fmi3Version "3.0"

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;

typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;

typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

/* `message` is the finished text, not a format. */
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, fmi3Float64 t,
                                               fmi3Boolean set_requested, fmi3Boolean get_allowed,
                                               fmi3Boolean step_finished, fmi3Boolean can_return_early,
                                               fmi3Boolean *early_return_requested, fmi3Float64 *early_return_time);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

/* Groups of functions. FMI3_COMMON, FMI3_CS, FMI3_ME and FMI3_SE are needed for any use of the interface; the other
 * groups only when the FMU has a variable of the type or declares the capability. */
enum fmi3_group {
    FMI3_COMMON = 1 << 0,                 /* all interfaces */
    FMI3_CS = 1 << 1,                     /* Co-Simulation */
    FMI3_ME = 1 << 2,                     /* Model Exchange */
    FMI3_SE = 1 << 3,                     /* Scheduled Execution */
    FMI3_VALUES = 1 << 4,                 /* all: needed for a variable of the type */
    FMI3_STATE = 1 << 5,                  /* all: canGetAndSetFMUState */
    FMI3_SERIALISE = 1 << 6,              /* all: canSerializeFMUState */
    FMI3_DIRECTIONAL = 1 << 7,            /* all: providesDirectionalDerivatives */
    FMI3_ADJOINT = 1 << 8,                /* all: providesAdjointDerivatives */
    FMI3_DEPENDENCIES = 1 << 9,           /* all: providesPerElementDependencies */
    FMI3_CONFIGURATION = 1 << 10,         /* all interfaces: the FMU has structural parameters */
    FMI3_RESET = 1 << 11,                 /* all: back to the state after instantiation */
    FMI3_EVENT = 1 << 12,                 /* ME always; CS: hasEventMode */
    FMI3_EVALUATE = 1 << 13,              /* ME, CS: providesEvaluateDiscreteStates */
    FMI3_CLOCK = 1 << 14,                 /* all interfaces: the FMU has clocks */
    FMI3_CS_EVENT = 1 << 15,              /* CS: hasEventMode */
    FMI3_CS_OUTPUT_DERIVATIVES = 1 << 16, /* CS: maxOutputDerivativeOrder > 0 */
    FMI3_ME_COUNT = 1 << 17 /* ME: needed where structural parameters change the number of states or indicators */
};

/* The compact list is easier to read than the formatted one. */
/* clang-format off */

/* List entries of the getter and the setter of the type whose C type is fmi3<type>. */
#define FMI3_GET_SET(X, type) \
    X(fmi3Get##type, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##type values[], size_t n_values), FMI3_VALUES) \
    X(fmi3Set##type, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##type values[], size_t n_values), \
      FMI3_VALUES)

/* X(name, return type, (parameters), group) */
#define FMI3_FUNCTIONS(X) \
    X(fmi3GetVersion, const char *, (void), FMI3_COMMON) \
    X(fmi3SetDebugLogging, fmi3Status, \
      (fmi3Instance c, fmi3Boolean logging_on, size_t n, const fmi3String categories[]), FMI3_COMMON) \
    X(fmi3InstantiateModelExchange, fmi3Instance, \
      (fmi3String instance_name, fmi3String token, fmi3String resource_path, fmi3Boolean visible, \
       fmi3Boolean logging_on, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log), FMI3_ME) \
    X(fmi3InstantiateCoSimulation, fmi3Instance, \
      (fmi3String instance_name, fmi3String token, fmi3String resource_path, fmi3Boolean visible, \
       fmi3Boolean logging_on, fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed, \
       const fmi3ValueReference required_intermediate[], size_t n_required_intermediate, \
       fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, \
       fmi3IntermediateUpdateCallback intermediate_update), FMI3_CS) \
    X(fmi3InstantiateScheduledExecution, fmi3Instance, \
      (fmi3String instance_name, fmi3String token, fmi3String resource_path, fmi3Boolean visible, \
       fmi3Boolean logging_on, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, \
       fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock_preemption, \
       fmi3UnlockPreemptionCallback unlock_preemption), FMI3_SE) \
    X(fmi3FreeInstance, void, (fmi3Instance c), FMI3_COMMON) \
    X(fmi3EnterInitializationMode, fmi3Status, \
      (fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance, fmi3Float64 start, \
       fmi3Boolean stop_defined, fmi3Float64 stop), FMI3_COMMON) \
    X(fmi3ExitInitializationMode, fmi3Status, (fmi3Instance c), FMI3_COMMON) \
    X(fmi3EnterEventMode, fmi3Status, (fmi3Instance c), FMI3_EVENT) \
    X(fmi3Terminate, fmi3Status, (fmi3Instance c), FMI3_COMMON) \
    X(fmi3Reset, fmi3Status, (fmi3Instance c), FMI3_RESET) \
    FMI3_GET_SET(X, Float32) \
    FMI3_GET_SET(X, Float64) \
    FMI3_GET_SET(X, Int8) \
    FMI3_GET_SET(X, UInt8) \
    FMI3_GET_SET(X, Int16) \
    FMI3_GET_SET(X, UInt16) \
    FMI3_GET_SET(X, Int32) \
    FMI3_GET_SET(X, UInt32) \
    FMI3_GET_SET(X, Int64) \
    FMI3_GET_SET(X, UInt64) \
    FMI3_GET_SET(X, Boolean) \
    FMI3_GET_SET(X, String) \
    X(fmi3GetBinary, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary values[], size_t n_values), \
      FMI3_VALUES) \
    X(fmi3SetBinary, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[], const fmi3Binary values[], \
       size_t n_values), FMI3_VALUES) \
    X(fmi3GetClock, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Clock values[]), FMI3_CLOCK) \
    X(fmi3SetClock, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Clock values[]), FMI3_CLOCK) \
    X(fmi3GetNumberOfVariableDependencies, fmi3Status, \
      (fmi3Instance c, fmi3ValueReference vr, size_t *n_dependencies), FMI3_DEPENDENCIES) \
    X(fmi3GetVariableDependencies, fmi3Status, \
      (fmi3Instance c, fmi3ValueReference dependent, size_t dependent_elements[], fmi3ValueReference independents[], \
       size_t independent_elements[], fmi3DependencyKind kinds[], size_t n_dependencies), FMI3_DEPENDENCIES) \
    X(fmi3GetFMUState, fmi3Status, (fmi3Instance c, fmi3FMUState *state), FMI3_STATE) \
    X(fmi3SetFMUState, fmi3Status, (fmi3Instance c, fmi3FMUState state), FMI3_STATE) \
    X(fmi3FreeFMUState, fmi3Status, (fmi3Instance c, fmi3FMUState *state), FMI3_STATE) \
    X(fmi3SerializedFMUStateSize, fmi3Status, (fmi3Instance c, fmi3FMUState state, size_t *size), FMI3_SERIALISE) \
    X(fmi3SerializeFMUState, fmi3Status, \
      (fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size), FMI3_SERIALISE) \
    X(fmi3DeserializeFMUState, fmi3Status, \
      (fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state), FMI3_SERIALISE) \
    X(fmi3GetDirectionalDerivative, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns, const fmi3ValueReference knowns[], \
       size_t n_knowns, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity), \
      FMI3_DIRECTIONAL) \
    X(fmi3GetAdjointDerivative, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns, const fmi3ValueReference knowns[], \
       size_t n_knowns, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity), \
      FMI3_ADJOINT) \
    X(fmi3EnterConfigurationMode, fmi3Status, (fmi3Instance c), FMI3_CONFIGURATION) \
    X(fmi3ExitConfigurationMode, fmi3Status, (fmi3Instance c), FMI3_CONFIGURATION) \
    X(fmi3GetIntervalDecimal, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 intervals[], \
       fmi3IntervalQualifier qualifiers[]), FMI3_CLOCK) \
    X(fmi3GetIntervalFraction, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[], fmi3UInt64 resolutions[], \
       fmi3IntervalQualifier qualifiers[]), FMI3_CLOCK) \
    X(fmi3GetShiftDecimal, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 shifts[]), FMI3_CLOCK) \
    X(fmi3GetShiftFraction, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[], fmi3UInt64 resolutions[]), \
      FMI3_CLOCK) \
    X(fmi3SetIntervalDecimal, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 intervals[]), FMI3_CLOCK) \
    X(fmi3SetIntervalFraction, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[], \
       const fmi3UInt64 resolutions[]), FMI3_CLOCK) \
    X(fmi3SetShiftDecimal, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 shifts[]), FMI3_CLOCK) \
    X(fmi3SetShiftFraction, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[], \
       const fmi3UInt64 resolutions[]), FMI3_CLOCK) \
    X(fmi3EvaluateDiscreteStates, fmi3Status, (fmi3Instance c), FMI3_EVALUATE) \
    X(fmi3UpdateDiscreteStates, fmi3Status, \
      (fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals_changed, \
       fmi3Boolean *states_changed, fmi3Boolean *next_event_defined, fmi3Float64 *next_event), FMI3_EVENT) \
    /* Model Exchange */ \
    X(fmi3EnterContinuousTimeMode, fmi3Status, (fmi3Instance c), FMI3_ME) \
    X(fmi3CompletedIntegratorStep, fmi3Status, \
      (fmi3Instance c, fmi3Boolean no_set_state_before, fmi3Boolean *enter_event_mode, fmi3Boolean *terminate), \
      FMI3_ME) \
    X(fmi3SetTime, fmi3Status, (fmi3Instance c, fmi3Float64 t), FMI3_ME) \
    X(fmi3SetContinuousStates, fmi3Status, (fmi3Instance c, const fmi3Float64 x[], size_t nx), FMI3_ME) \
    X(fmi3GetContinuousStateDerivatives, fmi3Status, (fmi3Instance c, fmi3Float64 derivatives[], size_t nx), FMI3_ME) \
    X(fmi3GetEventIndicators, fmi3Status, (fmi3Instance c, fmi3Float64 indicators[], size_t ni), FMI3_ME) \
    X(fmi3GetContinuousStates, fmi3Status, (fmi3Instance c, fmi3Float64 x[], size_t nx), FMI3_ME) \
    X(fmi3GetNominalsOfContinuousStates, fmi3Status, (fmi3Instance c, fmi3Float64 nominals[], size_t nx), FMI3_ME) \
    X(fmi3GetNumberOfEventIndicators, fmi3Status, (fmi3Instance c, size_t *ni), FMI3_ME_COUNT) \
    X(fmi3GetNumberOfContinuousStates, fmi3Status, (fmi3Instance c, size_t *nx), FMI3_ME_COUNT) \
    /* Co-Simulation */ \
    X(fmi3EnterStepMode, fmi3Status, (fmi3Instance c), FMI3_CS_EVENT) \
    X(fmi3GetOutputDerivatives, fmi3Status, \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int32 orders[], fmi3Float64 values[], \
       size_t n_values), FMI3_CS_OUTPUT_DERIVATIVES) \
    X(fmi3DoStep, fmi3Status, \
      (fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state_before, fmi3Boolean *event_needed, \
       fmi3Boolean *terminate, fmi3Boolean *early_return, fmi3Float64 *last_time), FMI3_CS) \
    /* Scheduled Execution */ \
    X(fmi3ActivateModelPartition, fmi3Status, (fmi3Instance c, fmi3ValueReference clock, fmi3Float64 t), FMI3_SE)

/* clang-format on */

#endif
