/* How a correct program learns that an operation is done, before it does what would be a hazard. A
 * part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_LEARNING_H
#define SC_TESTS_FUZZ_RANDOM_LEARNING_H

/* ---- what a correct program does first ---- */

static void poll_event(int event)
{
    while (!do_event_query(event))
        usleep(200);
}

/* An event that stands for the copy already, or NOBODY. */
static int event_behind(const struct copy *copy)
{
    int event = pick_event();
    for (int i = 0; i < world.event_count; i++, event = (event + 1) % world.event_count) {
        struct oracle_set set = {{false}};
        oracle_reach(&world.oracle, world.events[event].node, &set);
        if (set.has[copy->node])
            return event;
    }
    return NOBODY;
}

/* One of the ways to learn that a copy is done. Some of them do not serve every copy. */
static void try_to_learn(const struct copy *copy)
{
    int slot = copy->slot;
    int event = pick_event();
    bool nameable = world.slots[slot].stream == copy->stream && can_name(slot);
    int way = below(nameable ? 10 : 3);
    if (way == 0 || (way <= 2 && !can_name(0))) {
        do_context_sync();
    } else if (way == 1) {
        do_stream_sync(0);
    } else if (way == 2) {
        do_sync_copy();
    } else if (way <= 4) {
        do_stream_sync(slot);
    } else if (way <= 6) {
        do_record(slot, event);
        if (way == 5)
            do_event_sync(event);
        else
            poll_event(event);
    } else if (way == 7) {
        do_callback(slot);
    } else if (way == 8) {
        do_pageable_copy(slot, true);
    } else {
        int other = pick_slot();
        do_record(slot, event);
        do_wait(other, event);
        do_stream_sync(other);
    }
}

static void learn(const struct copy *copy)
{
    int behind = one_in(2) ? event_behind(copy) : NOBODY;
    if (behind != NOBODY)
        do_event_sync(behind);
    for (int attempt = 0; attempt < 3 && in_flight(copy); attempt++)
        try_to_learn(copy);
    if (in_flight(copy))
        do_context_sync();
}

static void learn_all_on(int buffer)
{
    for (int i = 0; i < world.copy_count; i++)
        if (is_on(&world.copies[i], buffer) && in_flight(&world.copies[i]))
            learn(&world.copies[i]);
}

/* ---- launches that use freed memory ---- */

static void learn_ghost(const struct ghost *ghost)
{
    if (!is_known_done(ghost->node))
        do_context_sync();
}

static void learn_ghosts_of(int memory)
{
    for (int i = 0; i < ghost_count; i++)
        if (ghosts[i].memory == memory)
            learn_ghost(&ghosts[i]);
}

#endif
