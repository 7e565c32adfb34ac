/* SPDX-License-Identifier: MIT */
/* CanBus.c - a CAN bus between up to four units: a bus simulation FMU of fmi-ls-bus 1.0 (Network Abstraction).
 *
 * A frame takes its bits, with checksum and stuff bits, at the rate of the bus; then the other units receive it, the
 * sender gets its confirmation, and three bits later the next frame may begin. Where several units have a frame when
 * the bus is free, the identifier decides; a unit that is error passive comes after those that are not. The loser's
 * frame waits, or is given back as Arbitration Lost, as the unit configured. `corrupt_every` N destroys every Nth
 * frame: all units, including the sender, get a Bus Error, and may send it again.
 *
 * States: idle; about to arbitrate, once all that is sent at this instant is here; sending; intermission. `bus_clock`
 * counts them down. */
#include <string.h>

#include "can.h"

enum { NODES = 4, QUEUE = 32, INTERMISSION = 3, NONE = NODES };
enum state { IDLE, ARBITRATES, SENDS, PAUSES };

struct frame {
    struct kit_can_operation operation; /* its data is the field below, wherever this lies */
    uint8_t data[KIT_CAN_FD_MOST_DATA];
};

struct node {
    struct kit_clock rx_clock, tx_clock;
    struct kit_binary rx, tx;
    bool pending; /* the next tick of tx_clock has data */
    uint32_t behavior, state;
    struct frame queue[QUEUE];
    uint32_t first, waiting;
};

struct bus {
    struct kit_clock bus_clock;
    struct node node[NODES];
    uint32_t nodes, baud_rate, fd_baud_rate, corrupt_every;
    uint32_t rate, fd_rate; /* that hold: as configured, or the parameters */
    uint32_t state, sender;
    uint32_t frames, errors, lost;
    double busy;
    bool notifies;
};
#define KIT_SELF struct bus

#define NODE(n_, i_)                                                                                                   \
    KIT_VAR(node[i_].rx_clock, .name = "Node" #n_ ".Rx_Clock", .causality = KIT_INPUT, .clock = KIT_TRIGGERED),        \
        KIT_VAR(node[i_].rx, .name = "Node" #n_ ".Rx_Data", .causality = KIT_INPUT, .start = "",                       \
                .clocks = "Node" #n_ ".Rx_Clock", .mime_type = KIT_CAN_MIME_TYPE),                                     \
        KIT_VAR(node[i_].tx_clock, .name = "Node" #n_ ".Tx_Clock", .causality = KIT_INPUT,                             \
                .clock = KIT_INTERVAL_COUNTDOWN),                                                                      \
        KIT_VAR(node[i_].tx, .name = "Node" #n_ ".Tx_Data", .causality = KIT_OUTPUT, .clocks = "Node" #n_ ".Tx_Clock", \
                .depends = "Node" #n_ ".Tx_Clock", .mime_type = KIT_CAN_MIME_TYPE)

static const struct kit_var variables[] = {
    KIT_INPUT_CLOCK(bus_clock, KIT_INTERVAL_COUNTDOWN, .description = "the bus itself: frames and pauses end"),
    NODE(1, 0),
    NODE(2, 1),
    NODE(3, 2),
    NODE(4, 3),
    KIT_PARAMETER(nodes, .start = "4",
                  .description = "so many terminals have a unit; a frame that no other unit acknowledges is an error"),
    KIT_PARAMETER(baud_rate, .start = "500000", .min = "1", .description = "bit/s, unless a unit configures it"),
    KIT_PARAMETER(fd_baud_rate, .start = "2000000", .min = "1", .description = "bit/s of the data of CAN FD, likewise"),
    KIT_PARAMETER(corrupt_every, .start = "0", .description = "every so many frames one is destroyed; 0: none"),
    KIT_OUTPUT(frames, .clocks = "bus_clock", .depends = "bus_clock", .description = "sent without error"),
    KIT_OUTPUT(errors, .clocks = "bus_clock", .depends = "bus_clock", .description = "frames that were destroyed"),
    KIT_OUTPUT(lost, .clocks = "bus_clock", .depends = "bus_clock", .description = "arbitrations that were lost"),
    KIT_OUTPUT(busy, .clocks = "bus_clock", .depends = "bus_clock", .description = "seconds in which frames were sent"),
    KIT_VAR(notifies, .name = "BusNotifications", .causality = KIT_OUTPUT, .variability = KIT_CONSTANT,
            .start = "true"),
};

#define MEMBERS(n_)                                                                                                    \
    (const struct kit_member[])                                                                                        \
    {                                                                                                                  \
        {"Node" #n_ ".Tx_Data", "Tx_Data", NULL}, {"Node" #n_ ".Tx_Clock", "Tx_Clock", NULL},                          \
            {"Node" #n_ ".Rx_Data", "Rx_Data", NULL}, {"Node" #n_ ".Rx_Clock", "Rx_Clock", NULL},                      \
        {                                                                                                              \
            NULL, NULL, NULL                                                                                           \
        }                                                                                                              \
    }
#define TERMINAL(n_)                                                                                                   \
    {                                                                                                                  \
        .name = "Node" #n_, .rule = "org.fmi-ls-bus.transceiver", .kind = "org.fmi-ls-bus.network-terminal",           \
        .members = MEMBERS(n_)                                                                                         \
    }

static const struct kit_terminal terminals[] = {TERMINAL(1), TERMINAL(2), TERMINAL(3), TERMINAL(4)};

/* ---- what units get ---- */

static enum kit_status give(struct kit *kit, struct node *node, const struct kit_can_operation *operation)
{
    if (!node->pending && !node->tx_clock.active) { /* what was there has been given */
        enum kit_status status = kit_set_binary(kit, &node->tx, NULL, 0);
        if (status > KIT_WARNING)
            return status;
        node->pending = true;
        kit_set_interval(kit, &node->tx_clock, 0, 1);
    }
    return kit_can_append(kit, &node->tx, operation);
}

static struct kit_can_operation operation_of(const struct frame *frame)
{
    struct kit_can_operation operation = frame->operation;
    operation.data = frame->data;
    return operation;
}

/* ---- the bus ---- */

static void enter(struct kit *kit, struct bus *m, enum state state, uint64_t counter, uint64_t resolution)
{
    m->state = state;
    kit_set_interval(kit, &m->bus_clock, counter, resolution);
}

static struct frame *head_of(struct node *node)
{
    return &node->queue[node->first];
}

static void drop_head(struct node *node)
{
    node->first = (node->first + 1) % QUEUE;
    node->waiting--;
}

static bool comes_before(const struct node *a, const struct node *b)
{
    bool passive = a->state == KIT_CAN_ERROR_PASSIVE, other = b->state == KIT_CAN_ERROR_PASSIVE;
    if (passive != other)
        return other;
    return kit_can_precedence(&a->queue[a->first].operation) < kit_can_precedence(&b->queue[b->first].operation);
}

static enum kit_status tell_losers(struct kit *kit, struct bus *m)
{
    enum kit_status status = KIT_OK;
    for (uint32_t i = 0; i < NODES && status <= KIT_WARNING; i++) {
        struct node *node = &m->node[i];
        if (i == m->sender || node->waiting == 0)
            continue;
        m->lost++;
        if (node->behavior != KIT_CAN_DISCARD_AND_NOTIFY)
            continue;
        struct kit_can_operation lost = {.code = KIT_CAN_ARBITRATION_LOST, .id = head_of(node)->operation.id};
        drop_head(node);
        status = give(kit, node, &lost);
    }
    return status;
}

static enum kit_status arbitrate(struct kit *kit, struct bus *m)
{
    m->sender = NONE;
    for (uint32_t i = 0; i < NODES; i++)
        if (m->node[i].waiting > 0 && (m->sender == NONE || comes_before(&m->node[i], &m->node[m->sender])))
            m->sender = i;
    m->state = IDLE;
    if (m->sender == NONE)
        return KIT_OK;
    struct kit_can_operation frame = operation_of(head_of(&m->node[m->sender]));
    unsigned fast, slow = kit_can_bits(&frame, &fast);
    /* slow / rate + fast / fd_rate */
    uint64_t counter = (uint64_t)slow * m->fd_rate + (uint64_t)fast * m->rate;
    uint64_t resolution = (uint64_t)m->rate * m->fd_rate;
    if (fast == 0) {
        counter = slow;
        resolution = m->rate;
    }
    m->busy += (double)counter / (double)resolution;
    enter(kit, m, SENDS, counter, resolution);
    return tell_losers(kit, m);
}

/* Another unit has to acknowledge a frame. */
static bool is_heard(const struct bus *m)
{
    for (uint32_t i = 0; i < NODES && i < m->nodes; i++)
        if (i != m->sender && m->node[i].state != KIT_CAN_BUS_OFF)
            return true;
    return false;
}

static enum kit_status destroy(struct kit *kit, struct bus *m, const struct kit_can_operation *frame, bool heard)
{
    enum kit_status status = KIT_OK;
    m->errors++;
    for (uint32_t i = 0; i < NODES && status <= KIT_WARNING; i++) {
        struct kit_can_operation error = {.code = KIT_CAN_BUS_ERROR,
                                          .id = frame->id,
                                          .error = heard ? KIT_CAN_CRC_ERROR : KIT_CAN_ACK_ERROR,
                                          .flag = i == m->sender ? KIT_CAN_PRIMARY : KIT_CAN_SECONDARY,
                                          .sender = i == m->sender};
        status = give(kit, &m->node[i], &error);
    }
    return status;
}

static enum kit_status deliver(struct kit *kit, struct bus *m, const struct kit_can_operation *frame)
{
    struct kit_can_operation confirm = {.code = KIT_CAN_CONFIRM, .id = frame->id};
    enum kit_status status = give(kit, &m->node[m->sender], &confirm);
    m->frames++;
    for (uint32_t i = 0; i < NODES && status <= KIT_WARNING; i++)
        if (i != m->sender && m->node[i].state != KIT_CAN_BUS_OFF)
            status = give(kit, &m->node[i], frame);
    return status;
}

static enum kit_status end_frame(struct kit *kit, struct bus *m)
{
    struct node *sender = &m->node[m->sender];
    struct kit_can_operation frame = operation_of(head_of(sender));
    bool destroyed = m->corrupt_every > 0 && (m->frames + m->errors + 1) % m->corrupt_every == 0, heard = is_heard(m);
    enum kit_status status = destroyed || !heard ? destroy(kit, m, &frame, heard) : deliver(kit, m, &frame);
    drop_head(sender);
    enter(kit, m, PAUSES, INTERMISSION, m->rate);
    return status;
}

/* ---- what units say ---- */

static enum kit_status take_frame(struct kit *kit, struct bus *m, struct node *node,
                                  const struct kit_can_operation *operation)
{
    if (operation->code == KIT_CAN_XL_TRANSMIT || node->waiting == QUEUE || node->state == KIT_CAN_BUS_OFF) {
        kit_log(kit, KIT_WARNING, "node %d: a frame 0x%x is not sent: %s", (int)(node - m->node) + 1,
                (unsigned)operation->id,
                node->waiting == QUEUE           ? "32 others wait"
                : node->state == KIT_CAN_BUS_OFF ? "the unit is off the bus"
                                                 : "CAN XL is not simulated");
        struct kit_can_operation lost = {.code = KIT_CAN_ARBITRATION_LOST, .id = operation->id};
        return give(kit, node, &lost);
    }
    struct frame *frame = &node->queue[(node->first + node->waiting++) % QUEUE];
    frame->operation = *operation;
    frame->operation.data = NULL;
    memcpy(frame->data, operation->data, operation->length);
    if (m->state == IDLE)
        enter(kit, m, ARBITRATES, 0, 1);
    return KIT_OK;
}

static void configure(struct bus *m, struct node *node, const struct kit_can_operation *operation)
{
    if (operation->parameter == KIT_CAN_BAUDRATE)
        m->rate = operation->value;
    else if (operation->parameter == KIT_CAN_FD_BAUDRATE)
        m->fd_rate = operation->value;
    else if (operation->parameter == KIT_CAN_ARBITRATION_LOST_BEHAVIOR)
        node->behavior = operation->value;
}

static enum kit_status wake_others(struct kit *kit, struct bus *m, const struct node *from)
{
    const struct kit_can_operation wakeup = {.code = KIT_CAN_WAKEUP};
    enum kit_status status = KIT_OK;
    for (uint32_t i = 0; i < NODES && status <= KIT_WARNING; i++)
        if (&m->node[i] != from)
            status = give(kit, &m->node[i], &wakeup);
    return status;
}

static enum kit_status take(struct kit *kit, struct bus *m, struct node *node,
                            const struct kit_can_operation *operation)
{
    switch (operation->code) {
    case KIT_CAN_TRANSMIT:
    case KIT_CAN_FD_TRANSMIT:
    case KIT_CAN_XL_TRANSMIT: return take_frame(kit, m, node, operation);
    case KIT_CAN_CONFIGURATION: configure(m, node, operation); return KIT_OK;
    case KIT_CAN_STATUS: node->state = operation->state; return KIT_OK;
    case KIT_CAN_WAKEUP: return wake_others(kit, m, node);
    default: return KIT_OK;
    }
}

static enum kit_status receive(struct kit *kit, struct bus *m, struct node *node)
{
    struct kit_can_operation operation;
    enum kit_can_result result;
    enum kit_status status = KIT_OK;
    for (size_t at = 0; status <= KIT_WARNING && (result = kit_can_next(&node->rx, &at, &operation)) != KIT_CAN_END;)
        status = result == KIT_CAN_READ ? take(kit, m, node, &operation) : give(kit, node, &operation);
    return status;
}

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct bus *m = self;
    for (uint32_t i = 0; i < NODES; i++) {
        struct node *node = &m->node[i];
        if (clock == &node->tx_clock)
            node->pending = false;
        if (clock == &node->rx_clock)
            return receive(kit, m, node);
    }
    if (clock != &m->bus_clock)
        return KIT_OK;
    return m->state == SENDS ? end_frame(kit, m) : arbitrate(kit, m);
}

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct bus *m = self;
    m->rate = m->baud_rate;
    m->fd_rate = m->fd_baud_rate;
    for (uint32_t i = 0; i < NODES; i++) {
        m->node[i].behavior = KIT_CAN_BUFFER_AND_RETRANSMIT;
        m->node[i].state = KIT_CAN_ERROR_ACTIVE;
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "CanBus",
    .description = "A CAN bus between up to four units (fmi-ls-bus)",
    .size = sizeof(struct bus),
    KIT_VARIABLES(variables),
    KIT_TERMINALS(terminals),
    .experiment = {.stop = 1, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .initialise = initialise,
    .tick = tick,
};
