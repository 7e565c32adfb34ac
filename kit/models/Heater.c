/* SPDX-License-Identifier: MIT */
/* Heater - a room with an electric heater and a thermostat: units, display units, an enumeration, tunable parameters,
 * hysteresis by an event indicator that changes its meaning with the heater. */
#include "kit.h"

enum { OFF = 1, AUTOMATIC = 2, ON = 3 };

struct heater {
    double T, der_T, T_celsius, T_outside, P, P_max, C, R, T_set, band;
    double margin; /* indicator */
    int64_t mode;
    bool heating;
};
#define KIT_SELF struct heater

static const struct kit_unit units[] = {
    {.name = "K", .K = 1, .display = {{"degC", 1, -273.15}, {"degF", 1.8, -459.67}}},
    {.name = "degC", .K = 1, .factor = 1, .offset = 273.15},
    {.name = "K/s", .K = 1, .s = -1},
    {.name = "kW", .kg = 1, .m = 2, .s = -3, .factor = 1000},
    {.name = "kJ/K", .kg = 1, .m = 2, .s = -2, .K = -1, .factor = 1000},
    {.name = "K/kW", .kg = -1, .m = -2, .s = 3, .K = 1, .factor = 0.001},
};

static const struct kit_float_type types[] = {
    {.name = "Temperature",
     .quantity = "ThermodynamicTemperature",
     .unit = "K",
     .display_unit = "degC",
     .min = "0",
     .nominal = "300"},
    {.name = "TemperatureDifference", .quantity = "ThermodynamicTemperature", .unit = "K", .relative_quantity = true},
};

static const struct kit_enumeration enumerations[] = {
    {"HeaterMode",
     "what the thermostat may do",
     {{"off", OFF, NULL}, {"automatic", AUTOMATIC, NULL}, {"on", ON, NULL}}},
};

static const struct kit_var variables[] = {
    KIT_STATE(T, .causality = KIT_OUTPUT, .start = "293.15", .derivative = "der(T)", .declared_type = "Temperature",
              .description = "temperature of the room"),
    KIT_DERIVATIVE(der_T, .name = "der(T)", .unit = "K/s", .depends = "T:fixed T_outside:fixed C R"),
    KIT_OUTPUT(T_celsius, .unit = "degC", .depends = "T:constant", .description = "the same, in another unit"),
    KIT_INPUT(T_outside, .start = "273.15", .declared_type = "Temperature"),
    KIT_INPUT(mode, .enumeration = "HeaterMode", .start = "2"),
    KIT_OUTPUT(heating, .depends = "mode", .description = "whether the heater is on"),
    KIT_OUTPUT(P, .variability = KIT_DISCRETE, .unit = "kW", .depends = "mode P_max", .description = "electric power"),
    KIT_PARAMETER(P_max, .start = "2", .min = "0", .unit = "kW"),
    KIT_PARAMETER(C, .start = "100", .unit = "kJ/K", .description = "heat capacity of the room"),
    KIT_PARAMETER(R, .start = "20", .unit = "K/kW", .description = "thermal resistance of the walls"),
    KIT_PARAMETER(T_set, .variability = KIT_TUNABLE, .start = "294.15", .declared_type = "Temperature"),
    KIT_PARAMETER(band, .start = "1", .declared_type = "TemperatureDifference", .description = "of the thermostat"),
    KIT_INDICATOR(margin, .unit = "K", .description = "how far the temperature is from where the heater switches"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct heater *m = self;
    double power = m->heating ? m->P_max : 0;
    m->der_T = (power - (m->T - m->T_outside) / m->R) / m->C;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct heater *m = self;
    m->T_celsius = m->T - 273.15;
    m->P = m->heating ? m->P_max : 0;
    return KIT_OK;
}

/* After every event the margin is far from zero again, so that no solver meets it there twice. */
static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct heater *m = self;
    double warmer = m->T - m->T_set;
    m->margin = m->mode != AUTOMATIC ? 1 : m->heating ? m->band / 2 - warmer : warmer + m->band / 2;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct heater *m = self;
    indicators(kit, self, t);
    if (m->mode != AUTOMATIC)
        m->heating = m->mode == ON;
    else if (m->margin <= 0)
        m->heating = !m->heating;
    return KIT_OK;
}

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct heater *m = self;
    m->heating = m->mode == ON || (m->mode == AUTOMATIC && m->T < m->T_set);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Heater",
    .description = "A room with heater and thermostat",
    .size = sizeof(struct heater),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    KIT_TYPES(types),
    KIT_ENUMERATIONS(enumerations),
    .experiment = {.stop = 3600, .step = 10},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .micro_step = 5,
    .initialise = initialise,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
};
