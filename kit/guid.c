/* SPDX-License-Identifier: MIT */
/* guid.c - the model's identity: a hash of its description, equal in the library and in the description. */
#include "core.h"

#include <stdio.h>
#include <string.h>

/* Two 64-bit FNV-1a hashes with different start values. */
struct hash {
    uint64_t a, b;
};

static void add(struct hash *h, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++) {
        h->a = (h->a ^ byte[i]) * UINT64_C(0x100000001b3);
        h->b = (h->b ^ byte[i] ^ (h->a >> 56)) * UINT64_C(0x100000001b3);
    }
}

static void add_text(struct hash *h, const char *text)
{
    add(h, text ? "+" : "-", 1);
    if (text)
        add(h, text, strlen(text) + 1);
}

static void add_number(struct hash *h, double value)
{
    add(h, &value, sizeof value);
}

static void add_var(struct hash *h, const struct kit_var *var)
{
    const char *texts[] = {kit_var_name(var), var->description, var->start,         var->dims,        var->unit,
                           var->display_unit, var->quantity,    var->declared_type, var->enumeration, var->min,
                           var->max,          var->nominal,     var->derivative,    var->depends,     var->mime_type,
                           var->period,       var->shift,       var->clocks};
    for (size_t i = 0; i < KIT_COUNT(texts); i++)
        add_text(h, texts[i]);
    add_number(h, kit_var_type(var));
    add_number(h, var->causality);
    add_number(h, kit_var_variability(var));
    add_number(h, kit_var_initial(var));
    add_number(h, var->clock + 8 * var->can_be_deactivated);
    add_number(h, var->priority);
    add_number(h, var->reinit + 2 * var->indicator + 4 * var->intermediate);
    for (const struct kit_alias *alias = var->aliases; alias && alias->name; alias++) {
        add_text(h, alias->name);
        add_text(h, alias->description);
        add_text(h, alias->display_unit);
    }
}

static void add_unit(struct hash *h, const struct kit_unit *unit)
{
    int exponents[] = {unit->kg, unit->m, unit->s, unit->A, unit->K, unit->mol, unit->cd, unit->rad};
    add_text(h, unit->name);
    add(h, exponents, sizeof exponents);
    add_number(h, unit->factor);
    add_number(h, unit->offset);
    for (size_t i = 0; i < KIT_COUNT(unit->display) && unit->display[i].name; i++) {
        add_text(h, unit->display[i].name);
        add_number(h, unit->display[i].factor);
        add_number(h, unit->display[i].offset);
    }
}

static void add_types(struct hash *h, const struct kit_model *model)
{
    for (size_t i = 0; i < model->enumeration_count; i++) {
        const struct kit_enumeration *e = &model->enumerations[i];
        add_text(h, e->name);
        add_text(h, e->description);
        for (size_t j = 0; j < KIT_COUNT(e->items) && e->items[j].name; j++) {
            add_text(h, e->items[j].name);
            add_text(h, e->items[j].description);
            add_number(h, (double)e->items[j].value);
        }
    }
    for (size_t i = 0; i < model->type_count; i++) {
        const struct kit_float_type *t = &model->types[i];
        const char *texts[] = {t->name,         t->description, t->quantity, t->unit,
                               t->display_unit, t->min,         t->max,      t->nominal};
        for (size_t j = 0; j < KIT_COUNT(texts); j++)
            add_text(h, texts[j]);
        add_number(h, t->relative_quantity);
    }
}

void kit_guid(const struct kit_model *model, int version, char out[KIT_GUID_SIZE])
{
    struct hash h = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4)};
    const char *texts[] = {model->name, model->description, model->author, model->version};
    for (size_t i = 0; i < KIT_COUNT(texts); i++)
        add_text(&h, texts[i]);
    double numbers[] = {version,
                        model->experiment.start,
                        model->experiment.stop,
                        model->experiment.step,
                        model->experiment.tolerance,
                        model->features,
                        model->output_derivatives,
                        model->micro_step,
                        model->advance != NULL,
                        model->completed_step != NULL};
    for (size_t i = 0; i < KIT_COUNT(numbers); i++)
        add_number(&h, numbers[i]);
    for (size_t i = 0; i < model->variable_count; i++)
        add_var(&h, &model->variables[i]);
    for (size_t i = 0; i < model->unit_count; i++)
        add_unit(&h, &model->units[i]);
    add_types(&h, model);
    snprintf(out, KIT_GUID_SIZE, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(h.a >> 32), (unsigned)(h.a >> 16 & 0xffff),
             (unsigned)(h.a & 0xffff), (unsigned)(h.b >> 48), (unsigned long long)(h.b & UINT64_C(0xffffffffffff)));
}
