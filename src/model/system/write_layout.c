/* SPDX-License-Identifier: MIT */
/* Where components are drawn: a column for those that depend on no other, the next for those that depend on them only, and
 * so on, as readers of block diagrams expect. Loops are opened at the component that was named first. */
#include <math.h>
#include <stdlib.h>

#include "model/system/ssp_elements.h"

/* In the units of the drawing, of which other tools take some hundred for a window. */
enum { WIDTH = 80, HEAD = 20, PITCH = 10, GAP_X = 60, GAP_Y = 20, FEWEST_ROWS = 8 };

struct box_layout {
    const struct tt_system *system;
    uint32_t *first, *target;       /* destinations of component c: target[first[c]] to target[first[c + 1] - 1] */
    uint32_t *waits, *layer;        /* sources that have no place yet; the column, before columns are split */
    uint32_t *queue, head, tail;    /* components whose sources have all got their places */
    uint32_t *column, column_count; /* where it is in the end */
    double *heights;                /* of columns */
};

/* Height of a box with connectors on one or both sides, `rows` on the side that has more. */
static double box_height_for_rows(double rows)
{
    return HEAD + PITCH * rows;
}

static bool connects_components(const struct tt_connection *connection)
{
    return connection->from.component != TUTTI_NONE && connection->to.component != TUTTI_NONE &&
           connection->from.component != connection->to.component;
}

static void ssd_writer_list_targets(struct box_layout *layout)
{
    const struct tt_system *system = layout->system;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (connects_components(&system->connections[i])) {
            layout->first[system->connections[i].from.component + 1]++;
            layout->waits[system->connections[i].to.component]++;
        }
    for (uint32_t c = 0; c < system->component_count; c++)
        layout->first[c + 1] += layout->first[c];
    for (uint32_t i = system->connection_count; i > 0; i--)
        if (connects_components(&system->connections[i - 1])) {
            const struct tt_connection *connection = &system->connections[i - 1];
            /* The lists are filled from their ends, which moves their beginnings. */
            layout->target[--layout->first[connection->from.component + 1]] = connection->to.component;
        }
    for (uint32_t c = 0; c < system->component_count; c++)
        layout->first[c] = layout->first[c + 1];
}

static void ssd_writer_place(struct box_layout *layout, uint32_t component, uint32_t end)
{
    for (uint32_t i = layout->first[component]; i < end; i++) {
        uint32_t target = layout->target[i];
        if (layout->waits[target] == 0)
            continue; /* it opened a loop */
        if (layout->layer[target] <= layout->layer[component])
            layout->layer[target] = layout->layer[component] + 1;
        if (--layout->waits[target] == 0)
            layout->queue[layout->tail++] = target;
    }
}

static void ssd_writer_find_layers(struct box_layout *layout, uint32_t edges)
{
    uint32_t count = layout->system->component_count, next = 0;
    for (uint32_t c = 0; c < count; c++)
        if (layout->waits[c] == 0)
            layout->queue[layout->tail++] = c;
    while (layout->head < count) {
        if (layout->head == layout->tail) {
            while (layout->waits[next] == 0)
                next++;
            layout->waits[next] = 0;
            layout->queue[layout->tail++] = next;
        }
        uint32_t component = layout->queue[layout->head++];
        ssd_writer_place(layout, component, component + 1 < count ? layout->first[component + 1] : edges);
    }
}

/* The higher one of its two sides. */
static double ssd_writer_box_height(const struct tt_description *desc)
{
    uint32_t inputs = 0, outputs = 0;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        inputs += desc->vars[i].causality == TUTTI_INPUT;
        outputs += desc->vars[i].causality == TUTTI_OUTPUT;
    }
    return box_height_for_rows(inputs > outputs ? (double)inputs : (double)outputs);
}

/* Layers become columns; one that has very many components, several. */
static void ssd_writer_make_columns(struct box_layout *layout, struct tt_ssd_writer_box *boxes)
{
    uint32_t count = layout->system->component_count, layers = 0;
    double rows = fmax(FEWEST_ROWS, ceil(sqrt(2.0 * count)));
    uint32_t *size = layout->waits, *begin = layout->queue; /* both are free again; a layer has a component at least */
    for (uint32_t c = 0; c < count; c++) {
        layers = layout->layer[c] >= layers ? layout->layer[c] + 1 : layers;
        size[c] = begin[c] = 0;
    }
    for (uint32_t c = 0; c < count; c++)
        size[layout->layer[c]]++;
    for (uint32_t l = 0; l < layers; l++) {
        begin[l] = layout->column_count;
        layout->column_count += (uint32_t)ceil(size[l] / rows);
        size[l] = 0;
    }
    for (uint32_t c = 0; c < count; c++) {
        uint32_t layer = layout->layer[c], column = begin[layer] + (uint32_t)(size[layer]++ / rows);
        double height = ssd_writer_box_height(layout->system->components[c].fmu->desc);
        layout->column[c] = column;
        boxes[c].y1 = layout->heights[column];
        boxes[c].y2 = boxes[c].y1 + height;
        layout->heights[column] += height + GAP_Y;
    }
}

/* So far y is measured downwards in each column; SSP's axis points up, and columns are centred. */
static void place_boxes(const struct box_layout *layout, struct tt_ssd_writer_box *boxes)
{
    uint32_t count = layout->system->component_count;
    double highest = 0;
    for (uint32_t k = 0; k < layout->column_count; k++)
        highest = fmax(highest, layout->heights[k]);
    for (uint32_t c = 0; c < count; c++) {
        uint32_t column = layout->column[c];
        double top = highest - floor((highest - layout->heights[column]) / 2);
        struct tt_ssd_writer_box box = {.x1 = GAP_X + column * (double)(WIDTH + GAP_X)};
        box.x2 = box.x1 + WIDTH;
        box.y1 = top - boxes[c].y2;
        box.y2 = top - boxes[c].y1;
        boxes[c] = box;
    }
    boxes[count + layout->system->table_count] =
        (struct tt_ssd_writer_box){.x2 = GAP_X + layout->column_count * (double)(WIDTH + GAP_X), .y2 = highest + GAP_Y};
}

/* Tables stand in a column on the left: everything else moves to the right. */
static void place_tables(const struct tt_system *system, struct tt_ssd_writer_box *boxes)
{
    uint32_t count = system->component_count;
    struct tt_ssd_writer_box *all = &boxes[count + system->table_count];
    double y = 0;
    for (uint32_t i = 0; i < count && system->table_count > 0; i++) {
        boxes[i].x1 += WIDTH + GAP_X;
        boxes[i].x2 += WIDTH + GAP_X;
    }
    for (uint32_t t = 0; t < system->table_count; t++) {
        double rows = 0;
        for (uint32_t i = 0; i < system->input_count; i++)
            rows += system->inputs[i].table == t;
        boxes[count + t] = (struct tt_ssd_writer_box){.x1 = GAP_X, .x2 = GAP_X + WIDTH, .y1 = y + GAP_Y};
        y = boxes[count + t].y2 = boxes[count + t].y1 + box_height_for_rows(rows);
    }
    all->x2 += system->table_count > 0 ? WIDTH + GAP_X : 0;
    all->y2 = fmax(all->y2, y + GAP_Y);
}

enum tutti_err tt_ssd_writer_layout(const struct tt_system *system, struct tt_ssd_writer_box *boxes)
{
    size_t count = (size_t)system->component_count + 2;
    uint32_t *room = calloc(5 * count + system->connection_count, sizeof *room);
    double *heights = calloc(count, sizeof *heights);
    if (room && heights) {
        struct box_layout layout = {.system = system, .heights = heights};
        layout.first = room;
        layout.waits = room + count;
        layout.layer = room + 2 * count;
        layout.queue = room + 3 * count;
        layout.column = room + 4 * count;
        layout.target = room + 5 * count;
        ssd_writer_list_targets(&layout);
        uint32_t edges = 0;
        for (uint32_t i = 0; i < system->connection_count; i++)
            edges += connects_components(&system->connections[i]);
        ssd_writer_find_layers(&layout, edges);
        ssd_writer_make_columns(&layout, boxes);
        place_boxes(&layout, boxes);
        place_tables(system, boxes);
    }
    enum tutti_err err = room && heights ? TUTTI_OK : tt_fail_memory();
    free(room);
    free(heights);
    return err;
}
