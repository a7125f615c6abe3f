#include "interpose/graph/tellers.h"

#include <stdint.h>

#include "common/handles.h"
#include "common/own_pages.h"
#include "interpose/graph/driver_nodes.h"
#include "track/told.h"

#include "common/poison.h"

enum {
    NO_STEP = SC_TOLD_MAX + 1, /* of a node that was looked at */
    WHOLE_WALKS_MAX = 64,
    NOWHERE = UINT32_MAX,
};

/* A node, by its place in the list. */
struct place {
    uint32_t walk;  /* the latest that came by */
    uint8_t step;   /* 0: not known yet */
    bool is_teller; /* the node tells */
    bool has_told;  /* what the node tells of is known */
    bool is_passed; /* what stands before the node is known */
};

struct finding {
    const CUgraphNode *nodes;
    uint32_t count;
    const struct sc_tellers *tellers;
    struct sc_handles by_node; /* -> place + 1 */
    struct place *places;
    CUgraphNode *found; /* by one question to the driver */
    uint32_t *queue;    /* of a walk: the places in its order, first its teller */
    uint32_t *open;     /* tellers that wait for those before them */
    uint32_t walks, whole_walks;
    unsigned steps;
    uint32_t last; /* a teller that tells of all steps; NOWHERE: there is no step yet */
    uint32_t counts[SC_TOLD_MAX + 1]; /* of the nodes of each step */
};

/* ---- a walk to all that stands before a teller ---- */

struct walked {
    uint32_t length; /* of the queue */
    uint32_t before; /* a teller that has to be looked at first, or NOWHERE */
    bool meets_last;
    bool meets_others; /* of what is known already */
};

/* A teller has a step of its own behind what it tells of: of a child graph the nodes may use
 * memory. */
static bool is_known(const struct place *place)
{
    return place->is_passed && place->step;
}

/* False: a teller comes first. */
static bool meet(struct finding *finding, struct walked *walked, uint32_t at, bool whole)
{
    struct place *place = &finding->places[at];
    if (place->walk == finding->walks)
        return true;
    place->walk = finding->walks;
    if (place->is_teller && !place->has_told) {
        walked->before = at;
        return false;
    }
    walked->meets_last |= at == finding->last;
    walked->meets_others |= place->is_passed && at != finding->last;
    if (whole || !is_known(place))
        finding->queue[walked->length++] = at;
    return true;
}

static bool meet_before(struct finding *finding, struct walked *walked, uint32_t at, bool whole)
{
    size_t count =
        sc_driver_nodes_next_to(finding->nodes[at], SC_WAY_BEFORE, finding->found, finding->count);
    bool goes_on = true;
    for (size_t i = 0; goes_on && i < count && i < finding->count; i++) {
        uint64_t place = sc_handles_get(&finding->by_node, (uintptr_t)finding->found[i]);
        goes_on = !place || meet(finding, walked, (uint32_t)place - 1, whole);
    }
    return goes_on;
}

/* Stops at what is known already, unless it is `whole`. */
static struct walked walk(struct finding *finding, uint32_t teller, bool whole)
{
    struct walked walked = {.length = 1, .before = NOWHERE};
    bool goes_on = true;
    finding->places[teller].walk = ++finding->walks;
    finding->queue[0] = teller;
    for (uint32_t i = 0; goes_on && i < walked.length; i++) {
        uint32_t at = finding->queue[i];
        if (i == 0 || whole || !finding->places[at].is_passed)
            goes_on = meet_before(finding, &walked, at, whole);
    }
    return walked;
}

/* ---- what it tells of ---- */

/* The steps that the whole walk has met all nodes of, up to the first one of which it has not. */
static unsigned whole_steps(const struct finding *finding, const struct walked *walked)
{
    uint32_t met[NO_STEP + 1] = {0};
    unsigned steps = 0;
    for (uint32_t i = 1; i < walked->length; i++)
        met[finding->places[finding->queue[i]].step]++;
    while (steps < finding->steps && met[steps + 1] == finding->counts[steps + 1])
        steps++;
    return steps;
}

static void unjudge(struct finding *finding, uint32_t at)
{
    struct place *place = &finding->places[at];
    const struct sc_tellers *tellers = finding->tellers;
    if (is_known(place) && place->step != NO_STEP) {
        finding->counts[place->step]--;
        tellers->of(tellers->context, finding->nodes[at], 0);
    }
    place->step = NO_STEP;
    tellers->unjudge(tellers->context, finding->nodes[at]);
}

/* A node that is before the teller. All that was known before is of its steps, up to `steps`. */
static void tell_of(struct finding *finding, uint32_t at, unsigned steps)
{
    const struct sc_tellers *tellers = finding->tellers;
    struct place *place = &finding->places[at];
    unsigned next = finding->steps + 1;
    if (is_known(place)) {
        if (place->step > steps && place->step != NO_STEP)
            unjudge(finding, at);
    } else if (steps < finding->steps || next > SC_TOLD_MAX) {
        unjudge(finding, at);
    } else {
        bool names_memory = tellers->of(tellers->context, finding->nodes[at], next);
        place->step = (uint8_t)(names_memory ? next : NO_STEP);
        finding->counts[next] += names_memory;
    }
    place->is_passed = true;
}

/* False: it takes too long. */
static bool find_steps(struct finding *finding, uint32_t teller, struct walked *walked,
                       unsigned *steps)
{
    *steps = walked->meets_last ? finding->steps : 0;
    if (walked->meets_last || !walked->meets_others || !finding->steps)
        return true;
    if (++finding->whole_walks > WHOLE_WALKS_MAX)
        return false;
    *walked = walk(finding, teller, true);
    *steps = whole_steps(finding, walked);
    return true;
}

static bool tell(struct finding *finding, uint32_t teller, struct walked walked)
{
    struct place *place = &finding->places[teller];
    unsigned steps = 0;
    if (!find_steps(finding, teller, &walked, &steps))
        return false;
    bool all = steps == finding->steps;
    for (uint32_t i = 1; i < walked.length; i++)
        tell_of(finding, finding->queue[i], steps);
    if (all) {
        finding->last = teller;
        if (finding->steps < SC_TOLD_MAX && finding->counts[finding->steps + 1])
            finding->steps++;
        steps = finding->steps;
    }
    place->has_told = place->is_passed = true;
    finding->tellers->tells(finding->tellers->context, finding->nodes[teller], steps);
    return true;
}

/* The tellers before it come first. */
static bool tell_all_of(struct finding *finding, uint32_t teller)
{
    uint32_t count = 0;
    finding->open[count++] = teller;
    while (count) {
        struct walked walked = walk(finding, finding->open[count - 1], false);
        if (walked.before != NOWHERE && count < finding->count)
            finding->open[count++] = walked.before;
        else if (!tell(finding, finding->open[--count], walked))
            return false;
    }
    return true;
}

/* ---- a graph ---- */

static bool note_places(struct finding *finding)
{
    const struct sc_tellers *tellers = finding->tellers;
    bool noted = true;
    for (uint32_t i = 0; noted && i < finding->count; i++) {
        finding->places[i].is_teller = tellers->is_teller(tellers->context, finding->nodes[i]);
        noted = sc_handles_put(&finding->by_node, (uintptr_t)finding->nodes[i], i + 1) == 0;
    }
    return noted;
}

static bool find_all(struct finding *finding)
{
    bool found = note_places(finding);
    for (uint32_t i = 0; found && i < finding->count; i++)
        if (finding->places[i].is_teller && !finding->places[i].has_told)
            found = tell_all_of(finding, i);
    return found;
}

bool sc_tellers_each(const CUgraphNode *nodes, size_t count, const struct sc_tellers *tellers)
{
    struct finding finding = {
        .nodes = nodes, .count = (uint32_t)count, .tellers = tellers, .last = NOWHERE};
    size_t size_bytes = count * (sizeof *finding.found + sizeof *finding.places +
                                 sizeof *finding.queue + sizeof *finding.open);
    char *room = sc_pages_map(size_bytes);
    bool found = false;
    if (room && sc_handles_init(&finding.by_node) == 0) {
        finding.found = (CUgraphNode *)(void *)room;
        finding.places = (struct place *)(void *)(finding.found + count);
        finding.queue = (uint32_t *)(void *)(finding.places + count);
        finding.open = finding.queue + count;
        found = find_all(&finding);
        sc_handles_destroy(&finding.by_node);
    }
    sc_pages_unmap(room, size_bytes);
    return found;
}
