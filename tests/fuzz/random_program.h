/* One random program over the CUDA driver API, and what should be said of it.
 *
 * Threads take turns, so the order of calls is the program's own; the oracle draws the same calls
 * into its graph and counts the hazards that must be reported. A program of the class `correct`
 * does before every free and every conflicting operation something that establishes the order, and
 * then none may be reported. Memory is checked where it is defined: in a correct program, and in
 * mode=fix in every program, all operations happen as if each were done at once when it was issued.
 *
 * The parts are included in the order in which they lean on each other. Include once.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_PROGRAM_H
#define SC_TESTS_FUZZ_RANDOM_PROGRAM_H

#include "random_world.h"

#include "random_ledger.h"

#include "random_device_uses.h"

#include "random_graphs.h"

#include "random_rows.h"

#include "random_guard.h"

#include "random_captures.h"

#include "random_functions.h"

#include "random_calls.h"

#include "random_learning.h"

#include "random_copies.h"

#include "random_memory.h"

#include "random_pools.h"

#include "random_device.h"

#include "random_kernels.h"

#include "random_graph_device.h"

#include "random_touches.h"

#include "random_execs.h"

#include "random_launches.h"

#include "random_threads.h"

#include "random_managed.h"

#include "random_graph_memory.h"

#include "random_told.h"

#include "random_peers.h"

#include "random_recordings.h"

#include "random_changes.h"

#include "random_simple.h"

/* ---- the menu ---- */

static const struct menu_line {
    int weight;
    void (*run)(void);
    unsigned kinds; /* only in one of these, or 0 */
} menu[] = {
    {96, act_copy, 0},
    {24, act_record, 0},
    {28, act_wait, 0},
    {8, act_event_sync, 0},
    {5, act_event_query, 0},
    {6, act_stream_sync, 0},
    {5, act_stream_query, 0},
    {2, do_context_sync, 0},
    {3, do_sync_copy, 0},
    {4, act_callback, 0},
    {12, act_touch_at_once, 0},
    {6, act_copy_across, 0},
    {5, act_pageable_copy, 0},
    {8, act_work, 0},
    {12, act_free, 0},
    {5, act_unregister, 0},
    {8, act_free_pinned, 0},
    {8, act_renew_bytes, 0},
    {4, act_recycle_stream, 0},
    {2, act_recycle_event, 0},
    {36, act_touch, 0},
    {6, act_function_that_touches, 0},
    {20, act_capture, 0},
    {20, act_instantiate, 0},
    {50, act_launch, 0},
    {8, act_destroy, 0},
    {6, act_pageable_block, 0},
    {8, act_change_node, 0},
    {4, act_enable_node, 0},
    {4, act_update, 0},
    {10, act_add_node, 0},
    {2, act_destroy_node, 0},
    {40, act_device_use, 0},
    {16, act_device_at_once, 0},
    {8, act_device_memory, 0},
    {20, act_kernel, 0},
    {8, act_change_device_node, 0},
    {20, act_device_memory, POOLS | NODES},
    {8, act_pool, POOLS},
    {30, act_chain, NODES},
    {60, act_peer, PEERS},
    {12, act_word, TOLD},
    {12, act_wait_for_word, TOLD},
    {8, act_free_managed, OF_MANAGED},
    {30, act_managed_across, OF_MANAGED},
    {24, act_pageable_to_managed, OF_MANAGED},
    {8, act_managed_to_pageable, OF_MANAGED},
    {14, act_managed_named, OF_MANAGED},
    {160, act_simple_copies, SIMPLE},
    {20, act_idle_kernel, SIMPLE},
    {60, act_records, SIMPLE},
};

static int weight_of(const struct menu_line *line)
{
    bool is_left_out = line->run == act_capture && world.kinds & SIMPLE;
    return (!line->kinds || line->kinds & world.kinds) && !is_left_out ? line->weight : 0;
}

static void act(void)
{
    int total = 0;
    for (size_t i = 0; i < sizeof menu / sizeof *menu; i++)
        total += weight_of(&menu[i]);
    int choice = below(total);
    for (size_t i = 0; i < sizeof menu / sizeof *menu; i++) {
        if (choice < weight_of(&menu[i])) {
            menu[i].run();
            return;
        }
        choice -= weight_of(&menu[i]);
    }
}

/* ---- programs ---- */

static void start_device(bool healed, bool watched, enum kernels kernels)
{
    CUdevice device = 0;
    CUstream stream = NULL;
    world.healed = healed;
    world.watches_device = watched;
    world.kernels = kernels;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&baton.context, device));
    CHECK(cuCtxSetCurrent(baton.context));
    /* The first part is what D2H copies read, the last is for work that nobody looks at. */
    CHECK(cuMemAlloc(&world.device, DEVICE_BYTES + SOURCE_BYTES));
    fill_random(world.source, SOURCE_BYTES);
    CHECK(cuMemcpyHtoD(world.device, world.source, SOURCE_BYTES));
    CHECK(cuCtxSynchronize()); /* staged when the copy returned; non-blocking streams do not wait */
    /* KNOWN: what is done to device memory before streams may be unordered is not known. */
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamDestroy(stream));
    load_kernel();
    start_peer();
    start_threads();
}

static void begin_program(uint64_t seed)
{
    world.random = world.seed = seed;
    world.correct = below(10) < 3;
    world.thread = world.copy_count = world.block_count = world.stale_count = 0;
    oracle_begin(&world.oracle);
    world.device_used = SOURCE_BYTES;
    note_all_clear();
    note_all_marked();
    world.thread_count = 2 + below(THREADS - 1);
    world.slot_count = OWN_STREAM + 1 + below(STREAMS - OWN_STREAM);
    world.event_count = 2 + below(EVENTS - 1);
    world.buffer_count = 4 + below(BUFFERS - 3);
    if (trace)
        printf("seed %llu, %s:\n", (unsigned long long)seed,
               world.correct ? "correct" : "with hazards");
    for (int slot = 0; slot < OWN_STREAM; slot++)
        world.slots[slot] = (struct slot){
            slot        ? CU_STREAM_PER_THREAD
            : one_in(2) ? NULL
                        : CU_STREAM_LEGACY,
            oracle_add_stream(&world.oracle, slot ? ORACLE_BLOCKING : ORACLE_LEGACY, 0),
            slot ? slot - 1 : NOBODY};
    for (int slot = OWN_STREAM; slot < world.slot_count; slot++)
        make_stream(slot);
    for (int event = 0; event < world.event_count; event++)
        make_event(event);
    for (int buffer = 0; buffer < world.buffer_count; buffer++)
        add_buffer(buffer, buffer % kind_count());
    begin_graphs();
    begin_device_blocks();
    begin_peer();
}

static void compare_landed(const struct copy *copy)
{
    for (int run = 0; run < run_count(copy); run++) {
        struct span span = run_at(copy, run);
        size_t at = copy->device_offset + span.offset;
        compare("what the device got from node", copy->node, world.landed + (at - SOURCE_BYTES),
                world.expected + at, span.size_bytes);
    }
}

static void check_device(void)
{
    size_t size_bytes = world.device_used - SOURCE_BYTES;
    if (size_bytes == 0)
        return;
    CHECK(cuMemcpyDtoH(world.landed, world.device + SOURCE_BYTES, size_bytes));
    for (int i = 0; i < world.copy_count && data_is_defined(); i++) {
        const struct copy *copy = &world.copies[i];
        if (copy->direction == H2D && !copy->tainted && !copy->graph && !copy->across)
            compare_landed(copy);
    }
    check_cells();
}

static void give_back_buffer(int at)
{
    struct buffer *buffer = &world.buffers[at];
    if (!buffer->alive)
        return;
    check_buffer(at);
    buffer->alive = false;
    if (buffer->kind == PINNED) {
        CHECK(cuMemFreeHost(buffer->bytes));
        return;
    }
    if (buffer->kind == MANAGED) {
        CHECK(cuMemFree((CUdeviceptr)(uintptr_t)buffer->bytes));
        return;
    }
    if (buffer->kind == MAPPED) {
        CHECK(cuMemHostUnregister(buffer->bytes));
        unmap_pages(buffer->bytes);
    } else if (one_in(2)) {
        CHECK(cuMemHostUnregister(buffer->bytes));
        give_block(buffer->bytes, buffer->size_bytes);
    } else {
        give_block(buffer->bytes, buffer->size_bytes);
        CHECK(cuMemHostUnregister(buffer->bytes));
    }
}

static void end_program(void)
{
    world.thread = 0;
    do_context_sync();
    settle_peer();
    check_device();
    end_device_blocks();
    end_peer();
    end_pools();
    end_chains();
    end_graphs();
    unregister_stale();
    for (int buffer = 0; buffer < world.buffer_count; buffer++)
        give_back_buffer(buffer);
    for (int i = 0; i < world.block_count; i++) {
        const struct block *block = &world.blocks[i];
        for (size_t at = 0; at < block->size_bytes && block->checked; at++)
            if (block->bytes[at] != block->fill)
                fail("block %d: byte %zu of %zu was overwritten", i, at, block->size_bytes);
        give_block(block->bytes, block->size_bytes);
    }
    for (int slot = OWN_STREAM; slot < world.slot_count; slot++)
        CHECK(cuStreamDestroy(world.slots[slot].handle));
    for (int event = 0; event < world.event_count; event++)
        CHECK(cuEventDestroy(world.events[event].handle));
    check_ledger();
}

static void run_program(uint64_t seed)
{
    begin_program(seed);
    int actions = 8 + below(72);
    while (actions-- > 0 && world.oracle.node_count < NODES_ENOUGH)
        run_on(below(world.thread_count), act);
    check_ledger();
    end_program();
}

#endif
