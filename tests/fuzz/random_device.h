/* Device memory that streams share, from cuMemAlloc and from a pool: what the library should say of
 * uses that nothing orders (SC501, SC502), with device=1 only.
 *
 * A pool hands memory out again that was just freed, also to another stream: the driver puts that
 * behind the free, and the library forgets what was done there before. So bytes are what they
 * should be wherever the free comes after all uses.
 *
 * Nothing here is host memory of a buffer, and nothing is done while something captures. A part of
 * random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_DEVICE_H
#define SC_TESTS_FUZZ_RANDOM_DEVICE_H

enum {
    DEVICE_BLOCKS = 3,
    DEVICE_BLOCK_BYTES = 256, /* no more than the host's image */
};

struct device_block {
    bool alive, pooled;
    bool of_graph; /* pooled memory that a launch has allocated (random_graph_memory.h) */
    int life;
    CUdeviceptr address;
    unsigned char expected[DEVICE_BLOCK_BYTES];
};

static struct {
    struct device_block blocks[DEVICE_BLOCKS];
    int lives;
    bool tainted; /* nodes of one launch race, which nobody heals: bytes mean nothing */
} shared;

/* What the second context has, where there is one (random_peers.h). */
enum { PEER_BLOCKS = 2, PEER_BLOCK = DEVICE_BLOCKS + CELLS /* the first of them */ };
static struct {
    CUcontext context;
    CUevent events[PEER_SLOTS]; /* one for each of its slots */
    struct device_block blocks[PEER_BLOCKS];
} peer;

static bool is_peer_slot(int slot)
{
    return slot >= STREAMS;
}

static struct device_block *block_at(int block)
{
    return block < DEVICE_BLOCKS ? &shared.blocks[block] : &peer.blocks[block - PEER_BLOCK];
}

/* ---- uses ---- */

/* Cells of graphs come behind the blocks (use_of_cell), and live as long as the program. */
static int life_of(int block)
{
    bool is_cell = block >= DEVICE_BLOCKS && block < PEER_BLOCK;
    return is_cell ? 0 : block_at(block)->life;
}

static bool is_put_in_order(const struct device_use *earlier, const struct device_use *later)
{
    bool asked = world.kernels == KERNELS_ORDERED || !(earlier->is_kernel || later->is_kernel);
    return world.healed && asked;
}

/* ---- what a correct program does first ---- */

static void order_behind_peer(int recorded, int slot);
static void settle_peer(void);

static void order_use(const struct device_use *earlier, int slot)
{
    if (is_peer_slot(earlier->slot)) {
        order_behind_peer(earlier->slot, slot);
        return;
    }
    bool nameable = world.slots[earlier->slot].stream == earlier->stream && can_name(earlier->slot);
    if (nameable && one_in(2)) {
        int event = pick_event();
        do_record(earlier->slot, event);
        do_wait(slot, event);
    } else if (nameable && one_in(2)) {
        do_stream_sync(earlier->slot);
    } else {
        do_context_sync();
    }
}

static void order_before_use(const struct device_use *later)
{
    struct oracle_set before;
    for (int i = 0; i < device_uses.count; i++) {
        if (device_uses.list[i].is_heard_of || (!world.correct && !device_uses.list[i].unseen))
            continue;
        reach_next(later->slot, &before);
        if (uses_conflict(&device_uses.list[i], later, &before))
            order_use(&device_uses.list[i], later->slot);
    }
}

/* ---- blocks ---- */

static struct device_use use_of(int block, int slot, bool reads)
{
    struct device_use use = {.slot = slot,
                             .stream = world.slots[slot].stream,
                             .block = block,
                             .life = life_of(block),
                             .reads = reads};
    use.offset = one_in(2) ? 0 : (size_t)below(4) * (DEVICE_BLOCK_BYTES / 4);
    use.size_bytes = one_in(2) ? DEVICE_BLOCK_BYTES - use.offset : DEVICE_BLOCK_BYTES / 4;
    return use;
}

static struct device_use use_of_all(int block, int slot)
{
    struct device_use use = use_of(block, slot, false);
    use.offset = 0;
    use.size_bytes = DEVICE_BLOCK_BYTES;
    return use;
}

static CUdeviceptr address_of_use(const struct device_use *use)
{
    return block_at(use->block)->address + use->offset;
}

static unsigned char *shadow_of_use(const struct device_use *use)
{
    return block_at(use->block)->expected + use->offset;
}

static bool device_is_defined(void)
{
    return data_is_defined() && !shared.tainted;
}

/* A graph of a conditional node, of which the first body does the memset. */
static CUgraph body_that_fills(const struct device_use *use, unsigned char value, bool runs)
{
    CUgraph graph = NULL;
    CUgraphNode node;
    CUcontext context;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = address_of_use(use),
                                          .value = value,
                                          .elementSize = 1,
                                          .width = use->size_bytes,
                                          .height = 1};
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphCreate(&graph, 0));
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CHECK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, runs,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    CHECK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    CHECK(cuGraphAddMemsetNode(&node, params.conditional.phGraph_out[0], NULL, 0, &fill, context));
    return graph;
}

static void launch_once(CUgraph graph, int slot)
{
    CUgraphExec exec;
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    note_unclear(world.slots[slot].stream);
    CHECK(cuGraphLaunch(exec, world.slots[slot].handle));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void fill_async(const struct device_use *use)
{
    bool in_body = one_in(4);
    unsigned char value = (unsigned char)draw();
    order_before_use(use);
    say("device block %d: memset%s on slot %d, %zu bytes at %zu; node %d", use->block,
        in_body ? " in a body" : "", use->slot, use->size_bytes, use->offset,
        world.oracle.node_count);
    int node = oracle_add_node(&world.oracle, enter(use->slot));
    judge_use(use, node);
    if (in_body)
        launch_once(body_that_fills(use, value, true), use->slot);
    else
        CHECK(cuMemsetD8Async(address_of_use(use), value, use->size_bytes,
                              world.slots[use->slot].handle));
    keep_use(*use, node);
    memset(shadow_of_use(use), value, use->size_bytes);
    leave(use->slot);
}

/* A body that does not run uses nothing, in whatever order. With kernels it is a possible use. */
static void skip_body(const struct device_use *use)
{
    say("device block %d: memset in a body that does not run, on slot %d; node %d", use->block,
        use->slot, world.oracle.node_count);
    oracle_add_node(&world.oracle, enter(use->slot));
    launch_once(body_that_fills(use, (unsigned char)draw(), false), use->slot);
    leave(use->slot);
}

/* An allocation in a stream's order is no work of the stream: it joins nothing. */
static void allocate_in_order(int at, int slot)
{
    struct device_block *block = &shared.blocks[at];
    struct device_use use = use_of_all(at, slot);
    use.of_allocation = true;
    CUmemoryPool pool = pick_pool();
    CUstream stream = world.slots[slot].handle;
    oracle_new_node(&world.oracle, enter(slot))->alone = true;
    if (pool)
        CHECK(cuMemAllocFromPoolAsync(&block->address, DEVICE_BLOCK_BYTES, pool, stream));
    else
        CHECK(cuMemAllocAsync(&block->address, DEVICE_BLOCK_BYTES, stream));
    keep_use(use, world.oracle.node_count - 1);
    leave(slot);
}

static void allocate_by_graph(int at, int slot);
static void free_by_graph(int at);
static void note_free_of_graph(int at, struct device_use use, int node);

static void make_device_block(int at)
{
    struct device_block *block = &shared.blocks[at];
    int slot = pick_slot();
    block->alive = true;
    block->pooled = one_in(2);
    block->of_graph = block->pooled && world.kinds & NODES && one_in(2);
    block->life = ++shared.lives;
    say("device block %d, allocated %s, slot %d", at,
        block->of_graph ? "by a graph"
        : block->pooled ? "in the order"
                        : "at once",
        slot);
    if (block->of_graph)
        allocate_by_graph(at, slot);
    else if (block->pooled)
        allocate_in_order(at, slot);
    else
        CHECK(cuMemAlloc(&block->address, DEVICE_BLOCK_BYTES));
    struct device_use use = use_of_all(at, pick_slot());
    fill_async(&use);
}

static void free_in_order(int at)
{
    struct device_use use = use_of_all(at, pick_slot());
    use.of_allocation = true;
    order_before_use(&use);
    say("free device block %d on slot %d", at, use.slot);
    int node = oracle_add_node(&world.oracle, enter(use.slot));
    judge_use(&use, node);
    CHECK(cuMemFreeAsync(shared.blocks[at].address, world.slots[use.slot].handle));
    if (shared.blocks[at].of_graph)
        note_free_of_graph(at, use, node);
    leave(use.slot);
}

static void learn_use(const struct device_use *use)
{
    bool nameable = world.slots[use->slot].stream == use->stream && can_name(use->slot);
    if (nameable && one_in(2))
        do_stream_sync(use->slot);
    if (!is_known_done(use->node))
        do_context_sync();
}

static bool is_harmed_by_free(const struct device_use *use, int block)
{
    return use->block == block && is_pending(use) && !use->of_allocation;
}

/* In no order but that of the host's waits, of which the free itself is none. */
static void free_at_once(int at)
{
    for (int i = 0; i < device_uses.count && world.correct; i++)
        if (is_harmed_by_free(&device_uses.list[i], at))
            learn_use(&device_uses.list[i]);
    say("free device block %d at once", at);
    for (int i = 0; i < device_uses.count; i++)
        if (is_harmed_by_free(&device_uses.list[i], at)) {
            say("  of the use of node %d", device_uses.list[i].node);
            expect_call(DEVICE_ALLOCATION, !device_uses.list[i].may_be_known);
        }
    CHECK(cuMemFree(shared.blocks[at].address));
}

/* Of memory from the pool the free itself waits for nothing. */
static void free_device_block(int at)
{
    struct device_block *block = &shared.blocks[at];
    if (block->of_graph && one_in(2)) {
        free_by_graph(at);
    } else if (block->of_graph || (block->pooled && one_in(2))) {
        free_in_order(at);
    } else if (block->pooled && world.kinds & POOLS && one_in(2)) {
        free_at_once(at);
    } else {
        settle_peer();
        say("%sfree device block %d", block->pooled ? "synchronise the context and " : "", at);
        if (block->pooled)
            CHECK(cuCtxSynchronize());
        else
            CHECK(cuMemFree(block->address));
        know_context();
        note_all_marked();
        if (block->pooled)
            CHECK(cuMemFree(block->address));
    }
    block->alive = false;
    block->life = ++shared.lives;
}

/* ---- steps ---- */

static void upload_pageable(const struct device_use *use)
{
    fill_random(world.scratch, use->size_bytes);
    order_before_use(use);
    say("device block %d: pageable copy to it on slot %d; node %d", use->block, use->slot,
        world.oracle.node_count);
    int node = oracle_add_node(&world.oracle, enter(use->slot));
    judge_use(use, node);
    memcpy(shadow_of_use(use), world.scratch, use->size_bytes);
    CHECK(cuMemcpyHtoDAsync(address_of_use(use), world.scratch, use->size_bytes,
                            world.slots[use->slot].handle));
    keep_use(*use, node);
    leave(use->slot);
}

static void look_at(const struct device_use *use)
{
    if (device_is_defined())
        compare("device block", use->block, world.scratch, shadow_of_use(use), use->size_bytes);
}

/* Complete when it returns. */
static void download_pageable(const struct device_use *use)
{
    order_before_use(use);
    say("device block %d: pageable copy from it on slot %d", use->block, use->slot);
    int stream = enter(use->slot);
    judge_use(use, oracle_add_node(&world.oracle, stream));
    CHECK(cuMemcpyDtoHAsync(world.scratch, address_of_use(use), use->size_bytes,
                            world.slots[use->slot].handle));
    know_scope(stream, scope_of(stream));
    leave(use->slot);
    look_at(use);
}

/* The side that is read is judged and kept first. */
static void copy_within(const struct device_use *to, struct device_use from)
{
    from.size_bytes = to->size_bytes;
    from.offset = DEVICE_BLOCK_BYTES - to->size_bytes;
    order_before_use(&from);
    order_before_use(to);
    order_before_use(&from); /* what ordered the other may have been work of its own */
    say("device block %d: copy from block %d on slot %d, %zu bytes; node %d", to->block, from.block,
        to->slot, to->size_bytes, world.oracle.node_count);
    int node = oracle_add_node(&world.oracle, enter(to->slot));
    judge_use(&from, node);
    judge_use(to, node);
    memcpy(shadow_of_use(to), shadow_of_use(&from), to->size_bytes);
    CHECK(cuMemcpyDtoDAsync(address_of_use(to), address_of_use(&from), to->size_bytes,
                            world.slots[to->slot].handle));
    keep_use(from, node);
    keep_use(*to, node);
    leave(to->slot);
}

static void fill_at_once(const struct device_use *use)
{
    unsigned char value = (unsigned char)draw();
    order_before_use(use);
    say("device block %d: synchronous memset on slot %d", use->block, use->slot);
    int node = oracle_add_node(&world.oracle, enter(use->slot));
    judge_use(use, node);
    CHECK(
        (use->slot ? cuMemsetD8_v2_ptds : cuMemsetD8)(address_of_use(use), value, use->size_bytes));
    keep_use(*use, node);
    memset(shadow_of_use(use), value, use->size_bytes);
    leave(use->slot);
}

/* What the stream did before is done when it returns, and the bytes are taken; they may not have
 * landed. */
static void upload_at_once(const struct device_use *use)
{
    fill_random(world.scratch, use->size_bytes);
    order_before_use(use);
    say("device block %d: synchronous copy to it on slot %d", use->block, use->slot);
    int stream = enter(use->slot);
    judge_use(use, oracle_add_node(&world.oracle, stream));
    memcpy(shadow_of_use(use), world.scratch, use->size_bytes);
    CHECK((use->slot ? cuMemcpyHtoD_v2_ptds : cuMemcpyHtoD)(address_of_use(use), world.scratch,
                                                            use->size_bytes));
    know_scope(stream, scope_of(stream));
    keep_use(*use, oracle_add_node(&world.oracle, stream));
    leave(use->slot);
}

static void download_at_once(const struct device_use *use)
{
    order_before_use(use);
    say("device block %d: synchronous copy from it on slot %d", use->block, use->slot);
    int stream = enter(use->slot);
    judge_use(use, oracle_add_node(&world.oracle, stream));
    CHECK((use->slot ? cuMemcpyDtoH_v2_ptds : cuMemcpyDtoH)(world.scratch, address_of_use(use),
                                                            use->size_bytes));
    know_scope(stream, scope_of(stream));
    leave(use->slot);
    look_at(use);
}

/* ---- the menu ---- */

static bool can_use_device(int block)
{
    return world.watches_device && !capture.open && device_uses.count + 16 < DEVICE_USES_MAX &&
           count_uses(block) < USES_AT_A_TIME;
}

static void act_device_use(void)
{
    int at = below(DEVICE_BLOCKS), other = (at + 1) % DEVICE_BLOCKS;
    if (!can_use_device(at) || !can_use_device(other) || !shared.blocks[at].alive)
        return;
    int slot = pick_slot();
    struct device_use use = use_of(at, slot, false);
    switch (below(6)) {
    case 0:
        upload_pageable(&use);
        break;
    case 1:
        use.reads = true;
        download_pageable(&use);
        break;
    case 2:
        if (shared.blocks[other].alive)
            copy_within(&use, use_of(other, slot, true));
        break;
    case 3:
        if (!world.kernels)
            skip_body(&use);
        break;
    default:
        fill_async(&use);
    }
}

static void act_device_at_once(void)
{
    int at = below(DEVICE_BLOCKS), slot = pick_default_slot();
    if (!can_use_device(at) || !shared.blocks[at].alive || slot == NOBODY)
        return;
    struct device_use use = use_of(at, slot, false);
    switch (below(3)) {
    case 0:
        fill_at_once(&use);
        break;
    case 1:
        upload_at_once(&use);
        break;
    default:
        use.reads = true;
        download_at_once(&use);
    }
}

static void act_device_memory(void)
{
    int at = below(DEVICE_BLOCKS);
    if (!can_use_device(at))
        return;
    if (shared.blocks[at].alive)
        free_device_block(at);
    if (one_in(4))
        return;
    make_device_block(at);
}

/* ---- beginning and end ---- */

static void begin_device_blocks(void)
{
    device_uses.count = 0;
    shared.tainted = false;
    for (int at = 0; world.watches_device && at < DEVICE_BLOCKS; at++)
        make_device_block(at);
}

/* The host knows all. What a stream frees here is another's in the next program. */
static void end_device_blocks(void)
{
    for (int at = 0; world.watches_device && at < DEVICE_BLOCKS; at++) {
        struct device_block *block = &shared.blocks[at];
        if (!block->alive)
            continue;
        CHECK(cuMemcpyDtoH(world.scratch, block->address, DEVICE_BLOCK_BYTES));
        if (device_is_defined())
            compare("device block", at, world.scratch, block->expected, DEVICE_BLOCK_BYTES);
        if (block->of_graph || (block->pooled && one_in(2)))
            CHECK(cuMemFreeAsync(block->address, world.slots[OWN_STREAM].handle));
        else
            CHECK(cuMemFree(block->address));
        block->alive = false;
    }
}

#endif
