/* SPDX-License-Identifier: MIT */
/* What other tools write about a run into annotations of an SSD: OMSimulator's and OSP's master algorithms and their steps. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "ssp/parts.h"

/* Elements by name, in whatever namespace and depth: versions of the tools differ in both. */
static const struct known {
    const char *element, *tool;
    const char *step, *tolerance; /* attributes; NULL: none */
    bool varies;
} all[] = {
    {"FixedStepMaster", "OMSimulator", "stepSize", NULL, false},
    {"VariableStepMaster", "OMSimulator", NULL, "relativeTolerance", true},
    {"VariableStepSolver", "OMSimulator", NULL, "relativeTolerance", true},
    {"FixedStepAlgorithm", "OSP", "baseStepSize", NULL, false},
    {"StepSizeHint", "OSP", "value", NULL, false},
};

static double read_number(struct tutti_parts *parts, const struct tutti_node *node, const char *attribute)
{
    const char *text = attribute ? tutti_node_attribute(node, attribute) : NULL;
    double value = 0;
    if (!text)
        return 0;
    if (tutti_number_read_double(text, strlen(text), &value) && value > 0 && isfinite(value))
        return value;
    struct tutti_shown shown = tutti_str_show(text);
    tutti_parts_warn(parts, node, "%s takes a number greater than 0, not '%s'; it is ignored", attribute, shown.text);
    return 0;
}

/* The first element that is known, in the order of the document. */
static void search(struct tutti_parts *parts, const struct tutti_node *top, struct tutti_ssp_foreign *foreign)
{
    const struct tutti_node *node = top->first;
    while (node && node != top && !foreign->tool) {
        for (size_t i = 0; i < sizeof all / sizeof *all && !node->text; i++)
            if (node->space == TUTTI_SPACE_FOREIGN && strcmp(node->local, all[i].element) == 0)
                *foreign = (struct tutti_ssp_foreign){.tool = all[i].tool,
                                                      .step = read_number(parts, node, all[i].step),
                                                      .tolerance = read_number(parts, node, all[i].tolerance),
                                                      .varies = all[i].varies,
                                                      .line = node->line};
        if (node->first) {
            node = node->first;
            continue;
        }
        while (node != top && !node->next)
            node = node->parent;
        node = node == top ? top : node->next;
    }
}

void tutti_parts_foreign(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_ssp_foreign *foreign)
{
    const struct tutti_node *list = tutti_parts_child(node, "Annotations");
    if (list && !foreign->tool)
        search(parts, list, foreign);
}
