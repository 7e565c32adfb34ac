/* SPDX-License-Identifier: MIT */
/* What other tools write about a run into annotations of an SSD: OMSimulator's and OSP's master algorithms and their steps. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "model/ssp/ssp_reader.h"

/* Elements by name, in whatever namespace and depth: versions of the tools differ in both. */
static const struct foreign_algorithm {
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

static double ssd_read_number(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *attribute)
{
    const char *text = attribute ? tt_tree_find_attribute(node, attribute) : NULL;
    double value = 0;
    if (!text)
        return 0;
    if (tt_number_read_double(text, strlen(text), &value) && value > 0 && isfinite(value))
        return value;
    struct tt_text_excerpt shown = tt_text_excerpt(text);
    tt_ssp_reader_warn(parts, node, "%s takes a number greater than 0, not '%s'; it is ignored", attribute, shown.text);
    return 0;
}

/* The first element that is known, in the order of the document. */
static void ssd_search_foreign(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                               struct tt_ssp_foreign *foreign)
{
    const struct tt_tree_node *node = top->first;
    while (node && node != top && !foreign->tool) {
        for (size_t i = 0; i < sizeof all / sizeof *all && !node->text; i++)
            if (node->space == TUTTI_SPACE_FOREIGN && strcmp(node->local, all[i].element) == 0)
                *foreign = (struct tt_ssp_foreign){.tool = all[i].tool,
                                                   .step = ssd_read_number(parts, node, all[i].step),
                                                   .tolerance = ssd_read_number(parts, node, all[i].tolerance),
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

void tt_ssd_read_foreign(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_ssp_foreign *foreign)
{
    const struct tt_tree_node *list = tt_ssp_reader_find_child(node, "Annotations");
    if (list && !foreign->tool)
        ssd_search_foreign(parts, list, foreign);
}
