/* SPDX-License-Identifier: MIT */
/* api1.h - FMI 1.0 in C: the types, and one list of all functions.
 *
 * The type names, values and layouts are those of the FMI 1.0 standard, platform "standard32". FMI 1.0 has two
 * interfaces with one library each, Co-Simulation (CS) and Model Exchange (ME); they share names but not all types, so
 * the callback structure of ME has a separate name here.
 *
 * A library exports every function as <modelIdentifier>_<name>; the list holds the bare names. */
#ifndef TT_FMU_API1_H
#define TT_FMU_API1_H

#include <stddef.h>

typedef void *fmiComponent;
typedef unsigned int fmiValueReference;
typedef double fmiReal;
typedef int fmiInteger;
typedef char fmiBoolean;
typedef const char *fmiString;

enum { fmiFalse = 0, fmiTrue = 1 };

#define fmiVersion "1.0"
#define fmiPlatform "standard32"
/* The largest value: "no such variable", as in the result of fmiGetStateValueReferences. */
#define fmiUndefinedValueReference ((fmiValueReference)-1)

/* Pending belongs to CS only. */
typedef enum { fmiOK, fmiWarning, fmiDiscard, fmiError, fmiFatal, fmiPending } fmiStatus;

typedef enum { fmiDoStepStatus, fmiPendingStatus, fmiLastSuccessfulTime } fmiStatusKind;

/* `message` is a printf format; "#r12#" names the Real variable with reference 12 ("i", "b", "s" likewise), "##" is
 * '#'. */
typedef void (*fmiCallbackLogger)(fmiComponent component, fmiString instance_name, fmiStatus status, fmiString category,
                                  fmiString message, ...);
typedef void *(*fmiCallbackAllocateMemory)(size_t count, size_t size);
typedef void (*fmiCallbackFreeMemory)(void *object);
typedef void (*fmiStepFinished)(fmiComponent component, fmiStatus status);

/* Co-Simulation; passed by value. stepFinished may be NULL: every do-step then returns when it is done. */
typedef struct {
    fmiCallbackLogger logger;
    fmiCallbackAllocateMemory allocateMemory;
    fmiCallbackFreeMemory freeMemory;
    fmiStepFinished stepFinished;
} fmiCallbackFunctions;

/* Model Exchange; passed by value. The standard calls it fmiCallbackFunctions as well. */
typedef struct {
    fmiCallbackLogger logger;
    fmiCallbackAllocateMemory allocateMemory;
    fmiCallbackFreeMemory freeMemory;
} fmiModelCallbackFunctions;

/* Model Exchange. */
typedef struct {
    fmiBoolean iterationConverged;
    fmiBoolean stateValueReferencesChanged;
    fmiBoolean stateValuesChanged;
    fmiBoolean terminateSimulation;
    fmiBoolean upcomingTimeEvent;
    fmiReal nextEventTime;
} fmiEventInfo;

/* Groups of functions. FMI1_COMMON, FMI1_CS and FMI1_ME are needed for any use of the interface; the other groups only
 * when the FMU has a variable of the type or declares the capability. */
enum fmi1_group {
    FMI1_COMMON = 1 << 0,                /* both interfaces */
    FMI1_CS = 1 << 1,                    /* Co-Simulation */
    FMI1_ME = 1 << 2,                    /* Model Exchange */
    FMI1_VALUES = 1 << 3,                /* both: needed for a variable of the type */
    FMI1_CS_RESET = 1 << 4,              /* CS: back to the state after instantiation */
    FMI1_CS_INPUT_DERIVATIVES = 1 << 5,  /* CS: canInterpolateInputs */
    FMI1_CS_OUTPUT_DERIVATIVES = 1 << 6, /* CS: maxOutputDerivativeOrder > 0 */
    FMI1_CS_STATUS = 1 << 7,             /* CS: after Pending or Discard */
};

/* The compact list is easier to read than the formatted one. */
/* clang-format off */

/* List entries of the getter and the setter of the type whose C type is fmi<type>. */
#define FMI1_GET_SET(X, type) \
    X(fmiGet##type, fmiStatus, \
      (fmiComponent c, const fmiValueReference vr[], size_t n, fmi##type values[]), FMI1_VALUES) \
    X(fmiSet##type, fmiStatus, \
      (fmiComponent c, const fmiValueReference vr[], size_t n, const fmi##type values[]), FMI1_VALUES)

/* X(name, return type, (parameters), group) */
#define FMI1_FUNCTIONS(X) \
    X(fmiGetVersion, const char *, (void), FMI1_COMMON) \
    X(fmiSetDebugLogging, fmiStatus, (fmiComponent c, fmiBoolean logging_on), FMI1_COMMON) \
    FMI1_GET_SET(X, Real) \
    FMI1_GET_SET(X, Integer) \
    FMI1_GET_SET(X, Boolean) \
    FMI1_GET_SET(X, String) \
    /* Co-Simulation */ \
    X(fmiGetTypesPlatform, const char *, (void), FMI1_CS) \
    X(fmiInstantiateSlave, fmiComponent, \
      (fmiString instance_name, fmiString guid, fmiString fmu_location, fmiString mime_type, fmiReal timeout, \
       fmiBoolean visible, fmiBoolean interactive, fmiCallbackFunctions functions, fmiBoolean logging_on), FMI1_CS) \
    X(fmiInitializeSlave, fmiStatus, (fmiComponent c, fmiReal start, fmiBoolean stop_defined, fmiReal stop), FMI1_CS) \
    X(fmiTerminateSlave, fmiStatus, (fmiComponent c), FMI1_CS) \
    X(fmiResetSlave, fmiStatus, (fmiComponent c), FMI1_CS_RESET) \
    X(fmiFreeSlaveInstance, void, (fmiComponent c), FMI1_CS) \
    X(fmiSetRealInputDerivatives, fmiStatus, \
      (fmiComponent c, const fmiValueReference vr[], size_t n, const fmiInteger orders[], const fmiReal values[]), \
      FMI1_CS_INPUT_DERIVATIVES) \
    X(fmiGetRealOutputDerivatives, fmiStatus, \
      (fmiComponent c, const fmiValueReference vr[], size_t n, const fmiInteger orders[], fmiReal values[]), \
      FMI1_CS_OUTPUT_DERIVATIVES) \
    X(fmiDoStep, fmiStatus, (fmiComponent c, fmiReal t, fmiReal h, fmiBoolean new_step), FMI1_CS) \
    X(fmiCancelStep, fmiStatus, (fmiComponent c), FMI1_CS_STATUS) \
    X(fmiGetStatus, fmiStatus, (fmiComponent c, const fmiStatusKind kind, fmiStatus *value), FMI1_CS_STATUS) \
    X(fmiGetRealStatus, fmiStatus, (fmiComponent c, const fmiStatusKind kind, fmiReal *value), FMI1_CS_STATUS) \
    X(fmiGetIntegerStatus, fmiStatus, (fmiComponent c, const fmiStatusKind kind, fmiInteger *value), FMI1_CS_STATUS) \
    X(fmiGetBooleanStatus, fmiStatus, (fmiComponent c, const fmiStatusKind kind, fmiBoolean *value), FMI1_CS_STATUS) \
    X(fmiGetStringStatus, fmiStatus, (fmiComponent c, const fmiStatusKind kind, fmiString *value), FMI1_CS_STATUS) \
    /* Model Exchange */ \
    X(fmiGetModelTypesPlatform, const char *, (void), FMI1_ME) \
    X(fmiInstantiateModel, fmiComponent, \
      (fmiString instance_name, fmiString guid, fmiModelCallbackFunctions functions, fmiBoolean logging_on), FMI1_ME) \
    X(fmiFreeModelInstance, void, (fmiComponent c), FMI1_ME) \
    X(fmiSetTime, fmiStatus, (fmiComponent c, fmiReal t), FMI1_ME) \
    X(fmiSetContinuousStates, fmiStatus, (fmiComponent c, const fmiReal x[], size_t nx), FMI1_ME) \
    X(fmiCompletedIntegratorStep, fmiStatus, (fmiComponent c, fmiBoolean *call_event_update), FMI1_ME) \
    X(fmiInitialize, fmiStatus, \
      (fmiComponent c, fmiBoolean tolerance_controlled, fmiReal tolerance, fmiEventInfo *info), FMI1_ME) \
    X(fmiGetDerivatives, fmiStatus, (fmiComponent c, fmiReal derivatives[], size_t nx), FMI1_ME) \
    X(fmiGetEventIndicators, fmiStatus, (fmiComponent c, fmiReal indicators[], size_t ni), FMI1_ME) \
    X(fmiEventUpdate, fmiStatus, (fmiComponent c, fmiBoolean intermediate_results, fmiEventInfo *info), FMI1_ME) \
    X(fmiGetContinuousStates, fmiStatus, (fmiComponent c, fmiReal x[], size_t nx), FMI1_ME) \
    X(fmiGetNominalContinuousStates, fmiStatus, (fmiComponent c, fmiReal nominals[], size_t nx), FMI1_ME) \
    X(fmiGetStateValueReferences, fmiStatus, (fmiComponent c, fmiValueReference vr[], size_t nx), FMI1_ME) \
    X(fmiTerminate, fmiStatus, (fmiComponent c), FMI1_ME)

/* clang-format on */

#endif
