/* SPDX-License-Identifier: MIT */
/* api2.h - FMI 2.0 in C: the types, and one list of all functions.
 *
 * The type names, values and layouts are those of the FMI 2.0 standard, platform "default". One library serves
 * Co-Simulation (CS) and Model Exchange (ME); its symbols have exactly the listed names. */
#ifndef TT_FMU_API2_H
#define TT_FMU_API2_H

#include <stddef.h>

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;

enum { fmi2False = 0, fmi2True = 1 };

#define fmi2Version "2.0"
#define fmi2TypesPlatform "default"

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;

typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;

typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

/* `message` is a printf format; "#r12#" names the Real variable with reference 12 ("i", "b", "s" likewise), "##" is
 * '#'. */
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment environment, fmi2String instance_name, fmi2Status status,
                                   fmi2String category, fmi2String message, ...);
typedef void *(*fmi2CallbackAllocateMemory)(size_t count, size_t size);
typedef void (*fmi2CallbackFreeMemory)(void *object);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);

/* Passed by pointer; the environment keeps it alive as long as the instance. stepFinished may be NULL. */
typedef struct {
    fmi2CallbackLogger logger;
    fmi2CallbackAllocateMemory allocateMemory;
    fmi2CallbackFreeMemory freeMemory;
    fmi2StepFinished stepFinished;
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

/* Groups of functions. FMI2_COMMON, FMI2_CS and FMI2_ME are needed for any use of the interface; the other groups only
 * when the FMU has a variable of the type or declares the capability. */
enum fmi2_group {
    FMI2_COMMON = 1 << 0,                /* both interfaces */
    FMI2_CS = 1 << 1,                    /* Co-Simulation */
    FMI2_ME = 1 << 2,                    /* Model Exchange */
    FMI2_VALUES = 1 << 3,                /* both: needed for a variable of the type */
    FMI2_STATE = 1 << 4,                 /* both: canGetAndSetFMUstate */
    FMI2_SERIALISE = 1 << 5,             /* both: canSerializeFMUstate */
    FMI2_DIRECTIONAL = 1 << 6,           /* both: providesDirectionalDerivative */
    FMI2_RESET = 1 << 7,                 /* both: back to the state after instantiation */
    FMI2_CS_INPUT_DERIVATIVES = 1 << 8,  /* CS: canInterpolateInputs */
    FMI2_CS_OUTPUT_DERIVATIVES = 1 << 9, /* CS: maxOutputDerivativeOrder > 0 */
    FMI2_CS_STATUS = 1 << 10,            /* CS: after Pending or Discard */
};

/* The compact list is easier to read than the formatted one. */
/* clang-format off */

/* List entries of the getter and the setter of the type whose C type is fmi2<type>. */
#define FMI2_GET_SET(X, type) \
    X(fmi2Get##type, fmi2Status, \
      (fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2##type values[]), FMI2_VALUES) \
    X(fmi2Set##type, fmi2Status, \
      (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2##type values[]), FMI2_VALUES)

/* X(name, return type, (parameters), group) */
#define FMI2_FUNCTIONS(X) \
    X(fmi2GetTypesPlatform, const char *, (void), FMI2_COMMON) \
    X(fmi2GetVersion, const char *, (void), FMI2_COMMON) \
    X(fmi2SetDebugLogging, fmi2Status, \
      (fmi2Component c, fmi2Boolean logging_on, size_t n, const fmi2String categories[]), FMI2_COMMON) \
    X(fmi2Instantiate, fmi2Component, \
      (fmi2String instance_name, fmi2Type type, fmi2String guid, fmi2String resource_location, \
       const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging_on), FMI2_COMMON) \
    X(fmi2FreeInstance, void, (fmi2Component c), FMI2_COMMON) \
    X(fmi2SetupExperiment, fmi2Status, \
      (fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stop_defined, \
       fmi2Real stop), FMI2_COMMON) \
    X(fmi2EnterInitializationMode, fmi2Status, (fmi2Component c), FMI2_COMMON) \
    X(fmi2ExitInitializationMode, fmi2Status, (fmi2Component c), FMI2_COMMON) \
    X(fmi2Terminate, fmi2Status, (fmi2Component c), FMI2_COMMON) \
    X(fmi2Reset, fmi2Status, (fmi2Component c), FMI2_RESET) \
    FMI2_GET_SET(X, Real) \
    FMI2_GET_SET(X, Integer) \
    FMI2_GET_SET(X, Boolean) \
    FMI2_GET_SET(X, String) \
    X(fmi2GetFMUstate, fmi2Status, (fmi2Component c, fmi2FMUstate *state), FMI2_STATE) \
    X(fmi2SetFMUstate, fmi2Status, (fmi2Component c, fmi2FMUstate state), FMI2_STATE) \
    X(fmi2FreeFMUstate, fmi2Status, (fmi2Component c, fmi2FMUstate *state), FMI2_STATE) \
    X(fmi2SerializedFMUstateSize, fmi2Status, (fmi2Component c, fmi2FMUstate state, size_t *size), FMI2_SERIALISE) \
    X(fmi2SerializeFMUstate, fmi2Status, \
      (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size), FMI2_SERIALISE) \
    X(fmi2DeSerializeFMUstate, fmi2Status, \
      (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state), FMI2_SERIALISE) \
    X(fmi2GetDirectionalDerivative, fmi2Status, \
      (fmi2Component c, const fmi2ValueReference unknowns[], size_t n_unknowns, const fmi2ValueReference knowns[], \
       size_t n_knowns, const fmi2Real seed[], fmi2Real sensitivity[]), FMI2_DIRECTIONAL) \
    /* Model Exchange */ \
    X(fmi2EnterEventMode, fmi2Status, (fmi2Component c), FMI2_ME) \
    X(fmi2NewDiscreteStates, fmi2Status, (fmi2Component c, fmi2EventInfo *info), FMI2_ME) \
    X(fmi2EnterContinuousTimeMode, fmi2Status, (fmi2Component c), FMI2_ME) \
    X(fmi2CompletedIntegratorStep, fmi2Status, \
      (fmi2Component c, fmi2Boolean no_set_state_before, fmi2Boolean *enter_event_mode, fmi2Boolean *terminate), \
      FMI2_ME) \
    X(fmi2SetTime, fmi2Status, (fmi2Component c, fmi2Real t), FMI2_ME) \
    X(fmi2SetContinuousStates, fmi2Status, (fmi2Component c, const fmi2Real x[], size_t nx), FMI2_ME) \
    X(fmi2GetDerivatives, fmi2Status, (fmi2Component c, fmi2Real derivatives[], size_t nx), FMI2_ME) \
    X(fmi2GetEventIndicators, fmi2Status, (fmi2Component c, fmi2Real indicators[], size_t ni), FMI2_ME) \
    X(fmi2GetContinuousStates, fmi2Status, (fmi2Component c, fmi2Real x[], size_t nx), FMI2_ME) \
    X(fmi2GetNominalsOfContinuousStates, fmi2Status, (fmi2Component c, fmi2Real nominals[], size_t nx), FMI2_ME) \
    /* Co-Simulation */ \
    X(fmi2SetRealInputDerivatives, fmi2Status, \
      (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer orders[], const fmi2Real values[]), \
      FMI2_CS_INPUT_DERIVATIVES) \
    X(fmi2GetRealOutputDerivatives, fmi2Status, \
      (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer orders[], fmi2Real values[]), \
      FMI2_CS_OUTPUT_DERIVATIVES) \
    X(fmi2DoStep, fmi2Status, (fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state_before), FMI2_CS) \
    X(fmi2CancelStep, fmi2Status, (fmi2Component c), FMI2_CS_STATUS) \
    X(fmi2GetStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2Status *value), FMI2_CS_STATUS) \
    X(fmi2GetRealStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2Real *value), FMI2_CS_STATUS) \
    X(fmi2GetIntegerStatus, fmi2Status, \
      (fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value), FMI2_CS_STATUS) \
    X(fmi2GetBooleanStatus, fmi2Status, \
      (fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value), FMI2_CS_STATUS) \
    X(fmi2GetStringStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2String *value), FMI2_CS_STATUS)

/* clang-format on */

#endif
