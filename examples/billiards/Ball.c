/* SPDX-License-Identifier: MIT */
/* Ball - one of two balls of the same mass in a frame, after the billiards of Awais 2015 section 3.3.3. It rolls straight on between events,
 * so that it knows when it will meet the frame, and, from what the other ball told last, when it will meet that one: it announces the first of
 * these. At an event it tells where it was, how fast it goes from there, and since when. */
#include "kit.h"

#include <math.h>

enum obstacle { NOTHING, SIDE, END, BALL };

struct motion {
    double since, x, y, vx, vy;
};

struct ball {
    double width, height, radius;
    struct motion first, own, other;
    struct motion seen; /* the other one, as it goes on from what it told last */
    double x, y;
    int32_t bounces, collisions;
    double next;
    enum obstacle what; /* it meets at `next` */
};
#define KIT_SELF struct ball

#define DISCRETE .variability = KIT_DISCRETE

static const struct kit_var variables[] = {
    KIT_PARAMETER(width, .start = "2"),
    KIT_PARAMETER(height, .start = "1"),
    KIT_PARAMETER(radius, .start = "0.1", .description = "of both balls"),
    KIT_PARAMETER(first.x, .start = "0.4", .description = "where it begins"),
    KIT_PARAMETER(first.y, .start = "0.3"),
    KIT_PARAMETER(first.vx, .start = "0.9", .description = "and how fast"),
    KIT_PARAMETER(first.vy, .start = "0.5"),
    KIT_INPUT(other.since, .start = "0", DISCRETE),
    KIT_INPUT(other.x, .start = "0", DISCRETE),
    KIT_INPUT(other.y, .start = "0", DISCRETE),
    KIT_INPUT(other.vx, .start = "0", DISCRETE),
    KIT_INPUT(other.vy, .start = "0", DISCRETE),
    KIT_OUTPUT(own.since, DISCRETE, .depends = "", .description = "its last event"),
    KIT_OUTPUT(own.x, DISCRETE, .depends = "", .description = "where it was then"),
    KIT_OUTPUT(own.y, DISCRETE, .depends = ""),
    KIT_OUTPUT(own.vx, DISCRETE, .depends = "", .description = "how fast it goes since then"),
    KIT_OUTPUT(own.vy, DISCRETE, .depends = ""),
    KIT_OUTPUT(x, .depends = "", .description = "where it is"),
    KIT_OUTPUT(y, .depends = ""),
    KIT_OUTPUT(bounces, .start = "0", .depends = "", .description = "off the frame"),
    KIT_OUTPUT(collisions, .start = "0", .depends = "", .description = "with the other ball"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct ball *m = self;
    m->own = m->first;
    m->own.since = t;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct ball *m = self;
    m->x = m->own.x + m->own.vx * (t - m->own.since);
    m->y = m->own.y + m->own.vy * (t - m->own.since);
    return KIT_OK;
}

/* When a coordinate that goes at v comes to the frame. */
static double when_at_frame(double place, double v, double size, double radius)
{
    if (v > 0)
        return (size - radius - place) / v;
    return v < 0 ? (radius - place) / v : INFINITY;
}

/* When the distance of both is two radii, and falls. */
static double when_at_other(const struct ball *m)
{
    double since = fmax(m->own.since, m->seen.since);
    double dx = m->seen.x + m->seen.vx * (since - m->seen.since) - (m->own.x + m->own.vx * (since - m->own.since));
    double dy = m->seen.y + m->seen.vy * (since - m->seen.since) - (m->own.y + m->own.vy * (since - m->own.since));
    double vx = m->seen.vx - m->own.vx, vy = m->seen.vy - m->own.vy;
    double b = dx * vx + dy * vy, a = vx * vx + vy * vy, c = dx * dx + dy * dy - 4 * m->radius * m->radius;
    double root = b * b - a * c;
    return b < 0 && root > 0 ? since + c / (-b + sqrt(root)) : INFINITY;
}

static void look_ahead(struct ball *m)
{
    double side = m->own.since + when_at_frame(m->own.x, m->own.vx, m->width, m->radius);
    double end = m->own.since + when_at_frame(m->own.y, m->own.vy, m->height, m->radius);
    double ball = when_at_other(m);
    m->next = fmin(fmin(side, end), ball);
    m->what = m->next == ball ? BALL : m->next == side ? SIDE : m->next == end ? END : NOTHING;
}

/* Elastic, equal masses: along the line between both, they swap what they have of speed. The other ball will tell the same. */
static void collide(struct ball *m)
{
    double since = m->own.since - m->seen.since;
    m->seen.x += m->seen.vx * since;
    m->seen.y += m->seen.vy * since;
    m->seen.since = m->own.since;
    double dx = m->seen.x - m->own.x, dy = m->seen.y - m->own.y;
    double swap = ((m->seen.vx - m->own.vx) * dx + (m->seen.vy - m->own.vy) * dy) / (dx * dx + dy * dy);
    m->own.vx += swap * dx;
    m->own.vy += swap * dy;
    m->seen.vx -= swap * dx;
    m->seen.vy -= swap * dy;
    m->collisions++;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct ball *m = self;
    bool meets = m->what != NOTHING && t >= m->next * (1 - 1e-14);
    if (m->other.since >= m->seen.since && !(meets && m->what == BALL))
        m->seen = m->other; /* it has told something; where they meet, what it told before counts */
    if (meets) {
        m->own.x += m->own.vx * (m->next - m->own.since);
        m->own.y += m->own.vy * (m->next - m->own.since);
        m->own.since = m->next;
        if (m->what == BALL)
            collide(m);
        else
            m->bounces++;
        if (m->what == SIDE)
            m->own.vx = -m->own.vx;
        if (m->what == END)
            m->own.vy = -m->own.vy;
    }
    look_ahead(m);
    event->next_time = m->next;
    return KIT_OK;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Ball",
    .description = "A ball in a frame with another one",
    .size = sizeof(struct ball),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 20, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE,
    .initialise = initialise,
    .outputs = outputs,
    .event = event,
    .advance = advance,
};
