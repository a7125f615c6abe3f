#include "interpose/graph/notifiers.h"

#include <stdint.h>

#include "common/handles.h"
#include "common/own_pages.h"
#include "interpose/graph/driver_nodes.h"
#include "track/stages.h"

#include "common/poison.h"

enum {
    NO_STAGE = SC_STAGES_MAX + 1, /* the stage of a node that has been looked at and is in none */
    WHOLE_WALKS_MAX = 64,         /* more walks over whole graphs would take too long */
    NOWHERE = UINT32_MAX,
};

/* What is known of a node, by its index in the list. */
struct place {
    uint32_t walk;    /* the number of the latest walk that met the node */
    uint8_t stage;    /* 0: not looked at yet */
    bool is_notifier; /* the node tells the host, in a way that is seen, what is done */
    bool has_told;    /* it was found of which nodes this notifier tells the host */
    bool is_passed;   /* all nodes before this one were found already, by an earlier walk */
};

/* The search for the stages (parts of the graph) of one graph. A place is a node's index in
 * `nodes`. */
struct search {
    const CUgraphNode *nodes;
    uint32_t count;
    const struct sc_notifiers *notifiers;
    struct sc_handles by_node; /* nodes -> place + 1 */
    struct place *places;
    CUgraphNode *found; /* what one question to the driver has found */
    uint32_t *queue; /* the places that a walk has met, in that order; the first is its notifier */
    uint32_t *open;  /* notifiers that wait until notifiers before them are done */
    uint32_t walks, whole_walks;
    unsigned stages;
    uint32_t last; /* the last notifier that tells of all stages; NOWHERE: there is no stage yet */
    uint32_t counts[SC_STAGES_MAX + 1]; /* how many nodes each stage has */
};

/* ---- a walk to all that stands before a notifier ---- */

/* What a walk back from a notifier (a node that tells the host what is done) has found. */
struct walked {
    uint32_t length;   /* of the queue */
    uint32_t before;   /* an earlier notifier, from which to walk first; NOWHERE: none */
    bool meets_last;   /* the search's `last` is before the notifier: so are all stages so far */
    bool meets_others; /* other nodes that are `is_passed` already are before the notifier */
};

/* Does the node have its final stage? The walk that passes a node gives it one. A notifier (a node
 * that tells the host what is done) gets its own from a later notifier's walk: nodes in its child
 * graph may use memory. */
static bool has_stage(const struct place *place)
{
    return place->is_passed && place->stage;
}

/* Adds a node that is before the notifier (a node that tells the host what is done) to the walk
 * back from it, once. Returns false if that node is a notifier whose own walk has to come first,
 * since stages are made in the graph's order. Unless the walk is whole, nodes that have a stage are
 * not listed again: only those met anew become a new stage. */
static bool add_to_walk(struct search *search, struct walked *walked, uint32_t at, bool is_whole)
{
    struct place *place = &search->places[at];
    if (place->walk == search->walks)
        return true;
    place->walk = search->walks;
    if (place->is_notifier && !place->has_told) {
        walked->before = at;
        return false;
    }
    walked->meets_last |= at == search->last;
    walked->meets_others |= place->is_passed && at != search->last;
    if (is_whole || !has_stage(place))
        search->queue[walked->length++] = at;
    return true;
}

/* Adds all nodes from which an edge leads to the node at `at` to the walk. Returns false if one of
 * them is a notifier (a node that tells the host what is done) whose own walk has to come first. */
static bool add_before(struct search *search, struct walked *walked, uint32_t at, bool is_whole)
{
    size_t count = search->count;
    bool is_told = sc_driver_nodes_next_to(search->nodes[at], SC_WAY_BEFORE, search->found, &count);
    bool goes_on = true;
    for (size_t i = 0; is_told && goes_on && i < count && i < search->count; i++) {
        uint64_t place = sc_handles_get(&search->by_node, (uintptr_t)search->found[i]);
        goes_on = !place || add_to_walk(search, walked, (uint32_t)place - 1, is_whole);
    }
    return goes_on;
}

/* Walks back from a notifier (a node that tells the host what is done) along the edges. Unless the
 * walk is whole, it stops at nodes that an earlier walk has passed. So a chain of notifiers takes
 * only as long as the graph is. Ends early where an earlier notifier has to be walked from
 * first. */
static struct walked walk_before(struct search *search, uint32_t notifier, bool is_whole)
{
    struct walked walked = {.length = 1, .before = NOWHERE};
    bool goes_on = true;
    search->places[notifier].walk = ++search->walks;
    search->queue[0] = notifier;
    for (uint32_t i = 0; goes_on && i < walked.length; i++) {
        uint32_t at = search->queue[i];
        if (i == 0 || is_whole || !search->places[at].is_passed)
            goes_on = add_before(search, &walked, at, is_whole);
    }
    return walked;
}

/* ---- what it tells of ---- */

/* Returns how many stages (parts of the graph, each of which one node tells the host of) lie
 * completely before the notifier, such a node, from the first on. The walk from it was whole. An
 * event stands for all stages up to one, so a gap ends the count. */
static unsigned whole_stages(const struct search *search, const struct walked *walked)
{
    uint32_t met[NO_STAGE + 1] = {0};
    unsigned stages = 0;
    for (uint32_t i = 1; i < walked->length; i++)
        met[search->places[search->queue[i]].stage]++;
    while (stages < search->stages && met[stages + 1] == search->counts[stages + 1])
        stages++;
    return stages;
}

/* Takes the node out of its stage (the part of the graph that one node tells the host of), and has
 * it unjudged: when the host hears of the stage, that node may still be running, and no other sign
 * tells of it alone. */
static void leave_unjudged(struct search *search, uint32_t at)
{
    struct place *place = &search->places[at];
    const struct sc_notifiers *notifiers = search->notifiers;
    if (has_stage(place) && place->stage != NO_STAGE) {
        search->counts[place->stage]--;
        notifiers->put_in_stage(notifiers->context, search->nodes[at], 0);
    }
    place->stage = NO_STAGE;
    notifiers->unjudge(notifiers->context, search->nodes[at]);
}

/* Puts a node that is before the notifier (a node that tells the host what is done) into a stage;
 * the notifier tells of the first `stages` ones. If these are all so far, a node without a stage
 * gets the next one. Else, or if there are no more stages, nothing is reported of the node
 * (unjudged), as of one whose stage the notifier tells of only in part. A node that uses no memory
 * needs no stage (NO_STAGE). */
static void place_before_notifier(struct search *search, uint32_t at, unsigned stages)
{
    const struct sc_notifiers *notifiers = search->notifiers;
    struct place *place = &search->places[at];
    unsigned next = search->stages + 1;
    if (has_stage(place)) {
        if (place->stage > stages && place->stage != NO_STAGE)
            leave_unjudged(search, at);
    } else if (stages < search->stages || next > SC_STAGES_MAX) {
        leave_unjudged(search, at);
    } else {
        bool names_memory = notifiers->put_in_stage(notifiers->context, search->nodes[at], next);
        place->stage = (uint8_t)(names_memory ? next : NO_STAGE);
        search->counts[next] += names_memory;
    }
    place->is_passed = true;
}

/* Finds how many of the first stages lie completely before the notifier (a node that tells the host
 * what is done): all, if the last notifier that told of all is before it. None, if no node of an
 * earlier walk is. Else only a walk over all nodes before it can tell. Returns false if there were
 * too many such walks. */
static bool find_stages(struct search *search, uint32_t notifier, struct walked *walked,
                        unsigned *stages)
{
    *stages = walked->meets_last ? search->stages : 0;
    if (walked->meets_last || !walked->meets_others || !search->stages)
        return true;
    if (++search->whole_walks > WHOLE_WALKS_MAX)
        return false;
    *walked = walk_before(search, notifier, /*is_whole=*/true);
    *stages = whole_stages(search, walked);
    return true;
}

/* Notes what a notifier (a node that tells the host what is done) tells of, by the walk back from
 * it. If all stages (parts of the graph) so far lie before it, the nodes that have none become a
 * new stage, and it is the search's `last`. Returns false if that would take too long. */
static bool note_notified(struct search *search, uint32_t notifier, struct walked walked)
{
    struct place *place = &search->places[notifier];
    unsigned stages = 0;
    if (!find_stages(search, notifier, &walked, &stages))
        return false;
    bool tells_all = stages == search->stages;
    for (uint32_t i = 1; i < walked.length; i++)
        place_before_notifier(search, search->queue[i], stages);
    if (tells_all) {
        search->last = notifier;
        if (search->stages < SC_STAGES_MAX && search->counts[search->stages + 1])
            search->stages++;
        stages = search->stages;
    }
    place->has_told = place->is_passed = true;
    search->notifiers->tells(search->notifiers->context, search->nodes[notifier], stages);
    return true;
}

/* Finds what a notifier (a node that tells the host what is done) tells of. Notifiers before it
 * come first, by a stack of its own (`open`), since a recursion could be as deep as the graph.
 * Returns false if that would take too long. */
static bool find_notified(struct search *search, uint32_t notifier)
{
    uint32_t count = 0;
    search->open[count++] = notifier;
    while (count) {
        struct walked walked = walk_before(search, search->open[count - 1], /*is_whole=*/false);
        if (walked.before != NOWHERE && count < search->count)
            search->open[count++] = walked.before;
        else if (!note_notified(search, search->open[--count], walked))
            return false;
    }
    return true;
}

/* ---- a graph ---- */

/* Enters the nodes into the table from handles to indices, and finds out which are notifiers (nodes
 * that tell the host what is done). Returns false if there is no memory. */
static bool index_nodes(struct search *search)
{
    const struct sc_notifiers *notifiers = search->notifiers;
    bool noted = true;
    for (uint32_t i = 0; noted && i < search->count; i++) {
        search->places[i].is_notifier =
            notifiers->is_notifier(notifiers->context, search->nodes[i]);
        noted = sc_handles_put(&search->by_node, (uintptr_t)search->nodes[i], i + 1) == 0;
    }
    return noted;
}

/* Finds for each notifier of the graph of which nodes it tells the host. Returns false if that
 * takes too long, or there is no memory. */
static bool find_all(struct search *search)
{
    bool found = index_nodes(search);
    for (uint32_t i = 0; found && i < search->count; i++)
        if (search->places[i].is_notifier && !search->places[i].has_told)
            found = find_notified(search, i);
    return found;
}

/* Divides the nodes of a new exec into stages: those that the host knows to be done after the first
 * notifier (a node that tells the host what is done), those that it knows of besides after the next
 * one, and so on. An event that a node records then stands for a prefix of the launch's operations.
 * The tables lie in pages of their own. */
bool sc_notifiers_find_stages(const CUgraphNode *nodes, size_t count,
                              const struct sc_notifiers *notifiers)
{
    struct search search = {
        .nodes = nodes, .count = (uint32_t)count, .notifiers = notifiers, .last = NOWHERE};
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
