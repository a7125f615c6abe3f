/* Calls that order or wait, each drawn into the oracle's graph as it succeeds; streams and events
 * that come and go. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_CALLS_H
#define SC_TESTS_FUZZ_RANDOM_CALLS_H

#include "random_waits.h"

static int count_in_flight(int buffer)
{
    int count = 0;
    for (int i = 0; i < world.copy_count; i++)
        count += in_flight(&world.copies[i]) && is_on(&world.copies[i], buffer);
    return count;
}

/* Where what a stream writes is nobody else's. */
static CUdeviceptr device_place(int stream)
{
    return world.device + DEVICE_BYTES + (size_t)stream * PLACE_BYTES;
}

/* ---- calls that order or wait; each is drawn into the graph as it succeeds ---- */

static void do_record(int slot, int event)
{
    say("record event %d on slot %d", event, slot);
    world.events[event].node = oracle_add_record(&world.oracle, enter(slot));
    CHECK(cuEventRecord(world.events[event].handle, world.slots[slot].handle));
    leave(slot);
}

static void do_event_sync(int event)
{
    say("synchronise event %d", event);
    need_permission();
    wait_for_event(event);
}

static bool do_event_query(int event)
{
    need_permission();
    return ask_event(event);
}

static void note_waited(int slot)
{
    if (slot == 0 && !is_detoured(slot))
        note_all_marked();
    note_marked(slot);
}

static void do_stream_sync(int slot)
{
    say("synchronise slot %d", slot);
    if (!is_detoured(slot))
        need_permission();
    int stream = enter(slot);
    CHECK(cuStreamSynchronize(world.slots[slot].handle));
    know_scope(stream, scope_of(stream));
    note_clear(stream);
    note_waited(slot);
    leave(slot);
}

/* Of the legacy stream while that is blocked, each stream is asked; that is no detour. */
static bool do_stream_query(int slot)
{
    int stream = world.slots[slot].stream;
    meet(slot);
    if (is_detoured(slot))
        expect_call(LEGACY_IN_CAPTURE, true);
    else
        need_permission();
    CUresult result = cuStreamQuery(world.slots[slot].handle);
    say("query slot %d: %d", slot, (int)result);
    if (result == CUDA_SUCCESS) {
        know_scope(stream, scope_of(stream));
        note_clear(stream);
        note_waited(slot);
    } else if (result != CUDA_ERROR_NOT_READY)
        CHECK(result);
    return result == CUDA_SUCCESS;
}

/* What no capture survives is done in another way while there is one: a free of device memory waits
 * as well. */
static void do_context_sync(void)
{
    CUdeviceptr device;
    say("synchronise the context");
    if (capture.open) {
        need_permission();
        CHECK(cuMemAlloc(&device, 64));
        need_permission();
        CHECK(cuMemFree(device));
    } else {
        CHECK(cuCtxSynchronize());
        note_all_clear();
    }
    note_all_marked();
    know_context();
}

static void raise_flag(void *semaphore)
{
    note_function();
    sem_post(semaphore);
}

static void raise_flag_of_stream(CUstream stream, CUresult status, void *semaphore)
{
    (void)stream;
    note_function();
    if (status == CUDA_SUCCESS)
        sem_post(semaphore);
}

static void do_callback(int slot)
{
    static sem_t called;
    struct oracle_set set;
    bool old = one_in(3);
    say("%s on slot %d, wait for it", old ? "callback" : "host function", slot);
    sem_init(&called, 0, 0);
    int stream = enter(slot);
    oracle_add_node(&world.oracle, stream);
    note_unclear(stream);
    oracle_reach_scope(&world.oracle, stream, scope_of(stream), &set);
    if (old)
        CHECK(cuStreamAddCallback(world.slots[slot].handle, raise_flag_of_stream, &called, 0));
    else
        CHECK(cuLaunchHostFunc(world.slots[slot].handle, raise_flag, &called));
    sem_wait(&called);
    let_function_return();
    know(&set);
    leave(slot);
}

/* Synchronous copies of pageable memory wait for the legacy stream. */
static void do_sync_copy(void)
{
    bool down = one_in(2);
    say("synchronous copy %s", down ? "from the device" : "to the device");
    int stream = enter(0);
    oracle_add_node(&world.oracle, stream);
    if (down)
        CHECK(cuMemcpyDtoH(world.scratch, world.device, sizeof world.scratch));
    else
        CHECK(cuMemcpyHtoD(device_place(stream), world.scratch, sizeof world.scratch));
    know_scope(stream, scope_of(stream));
    leave(0);
}

/* Asynchronous copies of pageable memory: to the device they are staged in the call, from it they
 * are complete when they return. */
static void do_pageable_copy(int slot, bool down)
{
    CUstream handle = world.slots[slot].handle;
    say("pageable copy %s on slot %d", down ? "from the device" : "to the device", slot);
    int stream = enter(slot);
    oracle_add_node(&world.oracle, stream);
    if (down) {
        CHECK(cuMemcpyDtoHAsync(world.scratch, world.device, sizeof world.scratch, handle));
        know_scope(stream, scope_of(stream));
    } else {
        CHECK(cuMemcpyHtoDAsync(device_place(stream), world.scratch, sizeof world.scratch, handle));
    }
    leave(slot);
}

/* Where it is detoured, the synchronous one waits as it otherwise does not. */
static void do_work(int slot)
{
    bool wait = slot == 0 && one_in(2) && !is_detoured(slot);
    say("device memset on slot %d%s", slot, wait ? ", the synchronous one" : "");
    int stream = enter(slot);
    oracle_add_node(&world.oracle, stream);
    if (wait)
        CHECK(cuMemsetD8(device_place(stream), 7, 64));
    else
        CHECK(cuMemsetD8Async(device_place(stream), 7, 64, world.slots[slot].handle));
    leave(slot);
}

/* On the legacy stream a wait is work, unless the simulated driver drops it because the event is
 * complete: with other work right behind it the two are one. */
static void do_wait(int slot, int event)
{
    say("slot %d waits for event %d", slot, event);
    int stream = enter(slot);
    oracle_add_wait(&world.oracle, stream, world.events[event].node);
    note_unclear(stream);
    CHECK(cuStreamWaitEvent(world.slots[slot].handle, world.events[event].handle, 0));
    leave(slot);
    if (slot == 0)
        do_work(slot);
}

/* ---- picking ---- */

static bool can_name(int slot)
{
    bool own = world.slots[slot].owner == NOBODY ||
               (world.slots[slot].owner == world.thread && !(world.kinds & ALONE));
    return own && !is_in_the_way(slot);
}

static bool can_name_any(void)
{
    bool any = false;
    for (int slot = 0; slot < world.slot_count; slot++)
        any |= can_name(slot);
    return any;
}

static int pick_slot(void)
{
    int slot;
    do
        slot = one_in(4) ? below(OWN_STREAM) : OWN_STREAM + below(STREAMS - OWN_STREAM);
    while (slot >= world.slot_count || !can_name(slot));
    return slot;
}

static int pick_event(void)
{
    return below(world.event_count);
}

/* A live buffer of the kind, or NOBODY. */
static int pick_buffer(int kind)
{
    int buffer = below(world.buffer_count);
    for (int i = 0; i < world.buffer_count; i++, buffer = (buffer + 1) % world.buffer_count)
        if (world.buffers[buffer].alive && world.buffers[buffer].kind == kind)
            return buffer;
    return NOBODY;
}

/* ---- streams and events come and go ---- */

static void make_stream(int slot)
{
    bool blocking = one_in(world.kinds & SIMPLE ? 6 : 2) && !(world.kinds & ALONE);
    struct slot *made = &world.slots[slot];
    CHECK(cuStreamCreate(&made->handle, blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    made->stream =
        oracle_add_stream(&world.oracle, blocking ? ORACLE_BLOCKING : ORACLE_NONBLOCKING, 0);
    made->owner = NOBODY;
    say("slot %d is a %sblocking stream", slot, blocking ? "" : "non-");
    if (capture.owes)
        come_after_detours(slot);
}

static void act_recycle_stream(void)
{
    int slot = OWN_STREAM + below(world.slot_count - OWN_STREAM);
    if (world.oracle.stream_count >= ORACLE_STREAMS_MAX - 1 || captures(slot))
        return;
    say("destroy the stream of slot %d", slot);
    CHECK(cuStreamDestroy(world.slots[slot].handle));
    make_stream(slot);
}

static void make_event(int event)
{
    CHECK(cuEventCreate(&world.events[event].handle, CU_EVENT_DISABLE_TIMING));
    world.events[event].node = ORACLE_NONE;
}

static void act_recycle_event(void)
{
    int event = pick_event();
    if (is_named_by_nodes(event))
        return;
    say("destroy event %d and create another", event);
    CHECK(cuEventDestroy(world.events[event].handle));
    make_event(event);
}

/* ---- the menu ---- */

static void act_record(void)
{
    do_record(pick_slot(), pick_event());
}

static void act_wait(void)
{
    do_wait(pick_slot(), pick_event());
}

static void act_event_sync(void)
{
    do_event_sync(pick_event());
}

static void act_event_query(void)
{
    do_event_query(pick_event());
}

static void act_stream_sync(void)
{
    do_stream_sync(pick_slot());
}

static void act_stream_query(void)
{
    do_stream_query(pick_slot());
}

static void act_callback(void)
{
    do_callback(pick_slot());
}

static void act_pageable_copy(void)
{
    do_pageable_copy(pick_slot(), one_in(3));
}

static void act_work(void)
{
    do_work(pick_slot());
}

#endif
