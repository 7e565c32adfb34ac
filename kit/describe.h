/* SPDX-License-Identifier: MIT */
/* describe.h - the program that writes a model's modelDescription.xml: the common part of its files. All output goes to
 * stdout. */
#ifndef KIT_DESCRIBE_H
#define KIT_DESCRIBE_H

#include "core.h"

/* Reports everything in the model's tables that cannot become a valid FMU; returns the number of mistakes. */
int check_model(const struct kit_model *model);

/* The text with the characters replaced that XML would misread. */
void escaped(const char *value);
/* One attribute, " name=\"value\"", escaped; nothing for NULL, 0 and false. */
void text(const char *name, const char *value);
void flag(const char *name, bool value);
void number(const char *name, double value);
void whole(const char *name, long long value);

/* The words of FMI 2.0 and 3.0. */
const char *causality_word(const struct kit_var *var);
const char *variability_word(enum kit_variability variability);
/* The value of the attribute `initial`, or NULL if it is the default, or has no place here. */
const char *initial_word(const struct kit_var *var);

/* Returns the variable's start text if the description requires it, otherwise NULL. */
const char *start_of(const struct kit_var *var);
bool is_state(const struct kit_var *var);

/* The lists of the model structure; that of the derivatives follows the states. */
enum structure_list { OUTPUTS, INITIAL_UNKNOWNS };
bool belongs_to(const struct kit_model *model, const struct kit_var *var, enum structure_list list, int version);
/* Attributes `dependencies` and `dependenciesKind`. `id` translates value references; NULL: they stay. */
void dependencies(const struct kit_model *model, const struct kit_var *var, bool initial, int version,
                  const size_t id[]);

void write_units(const struct kit_model *model); /* FMI 2.0 and 3.0 */
void write_log_categories(void);                 /* FMI 2.0 and 3.0 */
void write_experiment(const struct kit_model *model, bool with_step);

void describe1(const struct kit_model *model, bool exchange);
void describe2(const struct kit_model *model);
void describe3(const struct kit_model *model);
/* terminalsAndIcons.xml, and how many mistakes are in the table of terminals. */
void describe_terminals(const struct kit_model *model);
int check_terminals(const struct kit_model *model);

#endif
