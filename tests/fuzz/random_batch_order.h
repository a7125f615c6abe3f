/* Calls that order or wait, each drawn into the oracle's graph, and how a program learns that an
 * operation is done. A part of random_batches.c.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_ORDER_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_ORDER_H

#include "random_waits.h"

static void note_all_clear(void)
{
    for (int slot = 0; slot < STREAMS; slot++)
        world.slots[slot].is_unclear = false;
}

static void do_context_sync(void)
{
    say("synchronise the context");
    CHECK(cuCtxSynchronize());
    know_context();
    note_all_clear();
}

static bool is_blocking(int slot)
{
    return world.oracle.streams[world.slots[slot].stream].kind == ORACLE_BLOCKING;
}

/* What is known of one blocking stream is known of their family together. */
static void do_stream_sync(int slot)
{
    say("synchronise stream %d", slot);
    CHECK(cuStreamSynchronize(world.slots[slot].handle));
    know_scope(world.slots[slot].stream, ORACLE_STREAM_SCOPE);
    world.slots[slot].is_unclear = world.slots[slot].is_unclear && is_blocking(slot);
}

static bool do_stream_query(int slot)
{
    CUresult result = cuStreamQuery(world.slots[slot].handle);
    say("query stream %d: %d", slot, (int)result);
    if (result == CUDA_SUCCESS)
        know_scope(world.slots[slot].stream, ORACLE_STREAM_SCOPE);
    else if (result != CUDA_ERROR_NOT_READY)
        CHECK(result);
    return result == CUDA_SUCCESS;
}

static void do_record(int slot, int event)
{
    say("record event %d on stream %d", event, slot);
    world.events[event].node = oracle_add_record(&world.oracle, world.slots[slot].stream);
    CHECK(cuEventRecord(world.events[event].handle, world.slots[slot].handle));
}

static void do_wait(int slot, int event)
{
    say("stream %d waits for event %d", slot, event);
    oracle_add_wait(&world.oracle, world.slots[slot].stream, world.events[event].node);
    CHECK(cuStreamWaitEvent(world.slots[slot].handle, world.events[event].handle, 0));
    for (int i = 0; i < STREAMS; i++)
        world.slots[i].is_unclear |= i == slot || (is_blocking(i) && is_blocking(slot));
}

static void do_event_sync(int event)
{
    say("synchronise event %d", event);
    wait_for_event(event);
}

/* ---- learning ---- */

static void learn(const struct op *op)
{
    int event = below(EVENTS), slot = op->slot;
    switch (in_flight(op) ? below(6) : NOBODY) {
    case 0:
        do_context_sync();
        break;
    case 1:
        do_stream_sync(slot);
        break;
    case 2:
        do_record(slot, event);
        do_event_sync(event);
        break;
    case 3:
        while (!do_stream_query(slot))
            usleep(200);
        break;
    case 4:
        do_record(slot, event);
        while (!ask_event(event))
            usleep(200);
        break;
    case 5:
        do_record(slot, event);
        slot = below(STREAMS);
        do_wait(slot, event);
        do_stream_sync(slot);
        break;
    default:
        break;
    }
    if (in_flight(op))
        fail("the generator did not learn what it learns");
}

static void learn_all_on(int buffer)
{
    for (int i = 0; i < world.op_count; i++)
        if (is_on(&world.ops[i], buffer))
            learn(&world.ops[i]);
    world.buffers[buffer].is_crowded = false;
}

/* ---- order between streams ---- */

/* What would come before work issued now: a node that is not there yet has the same edges. */
static void reach_next(int slot, struct oracle_set *before)
{
    int stream = world.slots[slot].stream;
    int last = world.oracle.streams[stream].last;
    memset(before, 0, sizeof *before);
    oracle_reach(&world.oracle, oracle_add_node(&world.oracle, stream), before);
    world.oracle.node_count--;
    world.oracle.streams[stream].last = last;
}

static void order_before(const struct op *op, int slot)
{
    int event = below(EVENTS);
    if (one_in(3)) {
        learn(op);
        return;
    }
    do_record(op->slot, event);
    do_wait(slot, event);
}

#endif
