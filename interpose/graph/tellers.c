#include "interpose/graph/tellers.h"

#include <stdint.h>

#include "common/handles.h"
#include "common/own_pages.h"
#include "interpose/graph/driver_nodes.h"
#include "track/told.h"

#include "common/poison.h"

/* WHOLE_WALKS_MAX: more walks over whole graphs would take too long. */
enum {
    NO_STEP = SC_TOLD_MAX + 1, /* the step of a node that has been looked at and is in none */
    WHOLE_WALKS_MAX = 64,
    NOWHERE = UINT32_MAX,
};

/* What is known of a node, by its index in the list. */
struct place {
    uint32_t walk;  /* the number of the latest walk that met the node */
    uint8_t step;   /* 0: not looked at yet */
    bool is_teller; /* the node tells */
    bool has_told;  /* what the node tells of is known */
    bool is_passed; /* what stands before the node is known */
};

/* The search for the steps of one graph. A place is a node's index in `nodes`. */
struct search {
    const CUgraphNode *nodes;
    uint32_t count;
    const struct sc_tellers *tellers;
    struct sc_handles by_node; /* nodes -> place + 1 */
    struct place *places;
    CUgraphNode *found; /* what one question to the driver has found */
    uint32_t *queue;    /* the places that a walk has met, in that order; the first is its teller */
    uint32_t *open;     /* tellers that wait until tellers before them are done */
    uint32_t walks, whole_walks;
    unsigned steps;
    uint32_t last; /* the last teller that tells of all steps; NOWHERE: there is no step yet */
    uint32_t counts[SC_TOLD_MAX + 1]; /* how many nodes each step has */
};

/* ---- a walk to all that stands before a teller ---- */

/* What a walk has found. */
struct walked {
    uint32_t length;   /* of the queue */
    uint32_t before;   /* a teller to be walked first, or NOWHERE */
    bool meets_last;   /* `last` is before the teller */
    bool meets_others; /* other known nodes are before the teller */
};

/* Does the node have its final step? A teller does not have one until what it tells of is known:
 * nodes of its child graph may use memory. */
static bool has_step(const struct place *place)
{
    return place->is_passed && place->step;
}

/* Adds a node to the walk. False: the node is a teller that has to be walked first. */
static bool meet_node(struct search *search, struct walked *walked, uint32_t at, bool is_whole)
{
    struct place *place = &search->places[at];
    if (place->walk == search->walks)
        return true;
    place->walk = search->walks;
    if (place->is_teller && !place->has_told) {
        walked->before = at;
        return false;
    }
    walked->meets_last |= at == search->last;
    walked->meets_others |= place->is_passed && at != search->last;
    if (is_whole || !has_step(place))
        search->queue[walked->length++] = at;
    return true;
}

/* Adds all nodes that have an edge to the node. False: a teller has to be walked first. */
static bool meet_before(struct search *search, struct walked *walked, uint32_t at, bool is_whole)
{
    size_t count =
        sc_driver_nodes_next_to(search->nodes[at], SC_WAY_BEFORE, search->found, search->count);
    bool goes_on = true;
    for (size_t i = 0; goes_on && i < count && i < search->count; i++) {
        uint64_t place = sc_handles_get(&search->by_node, (uintptr_t)search->found[i]);
        goes_on = !place || meet_node(search, walked, (uint32_t)place - 1, is_whole);
    }
    return goes_on;
}

/* Walks from the teller to all nodes before it. Without `is_whole` the walk stops at nodes of which
 * it is known already what is before them. */
static struct walked walk_before(struct search *search, uint32_t teller, bool is_whole)
{
    struct walked walked = {.length = 1, .before = NOWHERE};
    bool goes_on = true;
    search->places[teller].walk = ++search->walks;
    search->queue[0] = teller;
    for (uint32_t i = 0; goes_on && i < walked.length; i++) {
        uint32_t at = search->queue[i];
        if (i == 0 || is_whole || !search->places[at].is_passed)
            goes_on = meet_before(search, &walked, at, is_whole);
    }
    return walked;
}

/* ---- what it tells of ---- */

/* How many of the first steps are wholly before the teller, by a whole walk. */
static unsigned whole_steps(const struct search *search, const struct walked *walked)
{
    uint32_t met[NO_STEP + 1] = {0};
    unsigned steps = 0;
    for (uint32_t i = 1; i < walked->length; i++)
        met[search->places[search->queue[i]].step]++;
    while (steps < search->steps && met[steps + 1] == search->counts[steps + 1])
        steps++;
    return steps;
}

/* Takes the node out of its step: it is not judged. */
static void unjudge(struct search *search, uint32_t at)
{
    struct place *place = &search->places[at];
    const struct sc_tellers *tellers = search->tellers;
    if (has_step(place) && place->step != NO_STEP) {
        search->counts[place->step]--;
        tellers->put_in_step(tellers->context, search->nodes[at], 0);
    }
    place->step = NO_STEP;
    tellers->unjudge(tellers->context, search->nodes[at]);
}

/* Puts a node that is before the teller into a step. The teller tells of the first `steps` steps. A
 * node of a later step is not judged any more. */
static void tell_node(struct search *search, uint32_t at, unsigned steps)
{
    const struct sc_tellers *tellers = search->tellers;
    struct place *place = &search->places[at];
    unsigned next = search->steps + 1;
    if (has_step(place)) {
        if (place->step > steps && place->step != NO_STEP)
            unjudge(search, at);
    } else if (steps < search->steps || next > SC_TOLD_MAX) {
        unjudge(search, at);
    } else {
        bool names_memory = tellers->put_in_step(tellers->context, search->nodes[at], next);
        place->step = (uint8_t)(names_memory ? next : NO_STEP);
        search->counts[next] += names_memory;
    }
    place->is_passed = true;
}

/* Finds how many of the first steps the teller tells of wholly. False: it would take too long. */
static bool find_steps(struct search *search, uint32_t teller, struct walked *walked,
                       unsigned *steps)
{
    *steps = walked->meets_last ? search->steps : 0;
    if (walked->meets_last || !walked->meets_others || !search->steps)
        return true;
    if (++search->whole_walks > WHOLE_WALKS_MAX)
        return false;
    *walked = walk_before(search, teller, /*is_whole=*/true);
    *steps = whole_steps(search, walked);
    return true;
}

/* Notes what the teller tells of, by its walk. If it tells of all steps, the nodes of no step yet
 * become a new step. */
static bool note_told(struct search *search, uint32_t teller, struct walked walked)
{
    struct place *place = &search->places[teller];
    unsigned steps = 0;
    if (!find_steps(search, teller, &walked, &steps))
        return false;
    bool tells_all = steps == search->steps;
    for (uint32_t i = 1; i < walked.length; i++)
        tell_node(search, search->queue[i], steps);
    if (tells_all) {
        search->last = teller;
        if (search->steps < SC_TOLD_MAX && search->counts[search->steps + 1])
            search->steps++;
        steps = search->steps;
    }
    place->has_told = place->is_passed = true;
    search->tellers->tells(search->tellers->context, search->nodes[teller], steps);
    return true;
}

/* Finds what the teller tells of, after all tellers before it. */
static bool tell_with_earlier(struct search *search, uint32_t teller)
{
    uint32_t count = 0;
    search->open[count++] = teller;
    while (count) {
        struct walked walked = walk_before(search, search->open[count - 1], /*is_whole=*/false);
        if (walked.before != NOWHERE && count < search->count)
            search->open[count++] = walked.before;
        else if (!note_told(search, search->open[--count], walked))
            return false;
    }
    return true;
}

/* ---- a graph ---- */

/* Fills in the places, and finds the tellers. */
static bool note_places(struct search *search)
{
    const struct sc_tellers *tellers = search->tellers;
    bool noted = true;
    for (uint32_t i = 0; noted && i < search->count; i++) {
        search->places[i].is_teller = tellers->is_teller(tellers->context, search->nodes[i]);
        noted = sc_handles_put(&search->by_node, (uintptr_t)search->nodes[i], i + 1) == 0;
    }
    return noted;
}

static bool find_all(struct search *search)
{
    bool found = note_places(search);
    for (uint32_t i = 0; found && i < search->count; i++)
        if (search->places[i].is_teller && !search->places[i].has_told)
            found = tell_with_earlier(search, i);
    return found;
}

bool sc_tellers_each(const CUgraphNode *nodes, size_t count, const struct sc_tellers *tellers)
{
    struct search search = {
        .nodes = nodes, .count = (uint32_t)count, .tellers = tellers, .last = NOWHERE};
    size_t size_bytes = count * (sizeof *search.found + sizeof *search.places +
                                 sizeof *search.queue + sizeof *search.open);
    char *room = sc_pages_map(size_bytes);
    bool found = false;
    if (room && sc_handles_init(&search.by_node) == 0) {
        search.found = (CUgraphNode *)(void *)room;
        search.places = (struct place *)(void *)(search.found + count);
        search.queue = (uint32_t *)(void *)(search.places + count);
        search.open = search.queue + count;
        found = find_all(&search);
        sc_handles_destroy(&search.by_node);
    }
    sc_pages_unmap(room, size_bytes);
    return found;
}
