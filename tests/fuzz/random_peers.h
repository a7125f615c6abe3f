/* A second device, in the kind PEERS: copies between blocks of both, in streams of either context.
 *
 * The second context has streams, events and blocks of its own, which other parts of the programs
 * know nothing of. A copy between the two contexts that names no stream is in order with all that
 * both were given, so that the library forgets what was done in them before. A part of
 * random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_PEERS_H
#define SC_TESTS_FUZZ_RANDOM_PEERS_H

static CUmemoryPool peer_pool;

static void enter_peer(void)
{
    CHECK(cuCtxPushCurrent(peer.context));
}

static void leave_peer(void)
{
    CUcontext popped;
    CHECK(cuCtxPopCurrent(&popped));
}

static int pick_peer_slot(void)
{
    return STREAMS + below(PEER_SLOTS);
}

/* Of either context. */
static int pick_any_slot(void)
{
    return one_in(2) ? pick_peer_slot() : pick_slot();
}

/* ---- order ---- */

static int record_peer(int slot)
{
    CUevent event = peer.events[slot - STREAMS];
    say("record an event on peer slot %d", slot);
    int node = oracle_add_record(&world.oracle, world.slots[slot].stream);
    enter_peer();
    CHECK(cuEventRecord(event, world.slots[slot].handle));
    leave_peer();
    return node;
}

static void wait_for_peer(int slot, int recorded, int node)
{
    say("slot %d waits for peer slot %d", slot, recorded);
    int stream = enter(slot);
    oracle_add_wait(&world.oracle, stream, node);
    if (!is_peer_slot(slot))
        note_unclear(stream);
    CHECK(cuStreamWaitEvent(world.slots[slot].handle, peer.events[recorded - STREAMS], 0));
    leave(slot);
    if (slot == 0)
        do_work(slot);
}

static void synchronise_peer(int slot)
{
    int stream = world.slots[slot].stream;
    say("synchronise peer slot %d", slot);
    CHECK(cuStreamSynchronize(world.slots[slot].handle));
    know_scope(stream, ORACLE_STREAM_SCOPE);
}

static void synchronise_peer_context(void)
{
    say("synchronise the peer's context");
    enter_peer();
    CHECK(cuCtxSynchronize());
    leave_peer();
    know_scope(world.slots[STREAMS].stream, ORACLE_CONTEXT_SCOPE);
}

/* Whatever was done in this context before. */
static void settle_peer(void)
{
    if (world.kinds & PEERS)
        synchronise_peer_context();
}

static void order_behind_peer(int recorded, int slot)
{
    if (one_in(2))
        synchronise_peer(recorded);
    else
        wait_for_peer(slot, recorded, record_peer(recorded));
}

static void act_peer_order(void)
{
    int slot = pick_peer_slot();
    switch (below(4)) {
    case 0:
        do_wait(slot, pick_event());
        break;
    case 1:
        synchronise_peer(slot);
        break;
    case 2:
        if (one_in(4))
            synchronise_peer_context();
        break;
    default:
        wait_for_peer(pick_any_slot(), slot, record_peer(slot));
    }
}

/* ---- blocks ---- */

static CUcontext context_of_block(int block)
{
    return block < DEVICE_BLOCKS ? baton.context : peer.context;
}

/* Memory of the second device, at once, or in the order of a stream of either context. */
static void make_peer_block(int at)
{
    struct device_block *block = block_at(at);
    int slot = pick_any_slot();
    struct device_use use;
    block->alive = true;
    block->pooled = one_in(2);
    block->life = ++shared.lives;
    say("peer block %d, allocated %s, slot %d", at, block->pooled ? "in the order" : "at once",
        slot);
    if (!block->pooled) {
        enter_peer();
        CHECK(cuMemAlloc(&block->address, DEVICE_BLOCK_BYTES));
        leave_peer();
        return;
    }
    use = use_of_all(at, slot);
    use.of_allocation = true;
    oracle_new_node(&world.oracle, enter(slot))->alone = true;
    CHECK(cuMemAllocFromPoolAsync(&block->address, DEVICE_BLOCK_BYTES, peer_pool,
                                  world.slots[slot].handle));
    keep_use(use, world.oracle.node_count - 1);
    leave(slot);
}

static void free_peer_in_order(int at)
{
    struct device_use use = use_of_all(at, pick_any_slot());
    use.of_allocation = true;
    order_before_use(&use);
    say("free peer block %d on slot %d", at, use.slot);
    int node = oracle_add_node(&world.oracle, enter(use.slot));
    judge_use(&use, node);
    CHECK(cuMemFreeAsync(block_at(at)->address, world.slots[use.slot].handle));
    leave(use.slot);
}

/* Which of two devices a free waits for is not asked here. */
static void free_peer_at_once(int at)
{
    do_context_sync();
    synchronise_peer_context();
    say("free peer block %d", at);
    enter_peer();
    CHECK(cuMemFree(block_at(at)->address));
    leave_peer();
}

static void free_peer_block(int at)
{
    struct device_block *block = block_at(at);
    if (block->pooled && !one_in(4))
        free_peer_in_order(at);
    else
        free_peer_at_once(at);
    block->alive = false;
    block->life = ++shared.lives;
}

static void fill_peer(struct device_use use)
{
    unsigned char value = (unsigned char)draw();
    order_before_use(&use);
    say("peer block %d: memset on slot %d, %zu bytes at %zu; node %d", use.block, use.slot,
        use.size_bytes, use.offset, world.oracle.node_count);
    int node = oracle_add_node(&world.oracle, enter(use.slot));
    judge_use(&use, node);
    enter_peer();
    CHECK(
        cuMemsetD8Async(address_of_use(&use), value, use.size_bytes, world.slots[use.slot].handle));
    leave_peer();
    keep_use(use, node);
    memset(shadow_of_use(&use), value, use.size_bytes);
    leave(use.slot);
}

static void act_peer_memory(void)
{
    int at = PEER_BLOCK + below(PEER_BLOCKS);
    if (count_uses(at) >= USES_AT_A_TIME)
        return;
    if (one_in(2)) {
        fill_peer(use_of(at, pick_peer_slot(), false));
        return;
    }
    free_peer_block(at);
    make_peer_block(at);
    fill_peer(use_of_all(at, pick_peer_slot()));
}

/* ---- copies ---- */

static CUDA_MEMCPY3D_PEER box_of(const struct device_use *to, const struct device_use *from)
{
    return (CUDA_MEMCPY3D_PEER){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = address_of_use(from),
                                .srcContext = context_of_block(from->block),
                                .srcPitch = from->size_bytes,
                                .srcHeight = 1,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = address_of_use(to),
                                .dstContext = context_of_block(to->block),
                                .dstPitch = to->size_bytes,
                                .dstHeight = 1,
                                .WidthInBytes = to->size_bytes,
                                .Height = 1,
                                .Depth = 1};
}

/* One block is of this device, the other one of the second. */
static bool pick_pair(struct device_use *to, struct device_use *from, int slot)
{
    int own = below(DEVICE_BLOCKS), other = PEER_BLOCK + below(PEER_BLOCKS);
    bool back = one_in(2);
    if (!block_at(own)->alive || !can_use_device(own) || !can_use_device(other))
        return false;
    *to = use_of(back ? own : other, slot, false);
    *from = use_of(back ? other : own, slot, true);
    from->size_bytes = to->size_bytes;
    from->offset = DEVICE_BLOCK_BYTES - to->size_bytes;
    return true;
}

static void act_peer_copy(void)
{
    struct device_use to, from;
    if (!pick_pair(&to, &from, pick_any_slot()))
        return;
    order_before_use(&from);
    order_before_use(&to);
    order_before_use(&from); /* what ordered the other may have been work of its own */
    say("device block %d: copy from block %d between devices on slot %d, %zu bytes; node %d",
        to.block, from.block, to.slot, to.size_bytes, world.oracle.node_count);
    CUstream stream = world.slots[to.slot].handle;
    CUDA_MEMCPY3D_PEER box = box_of(&to, &from);
    int node = oracle_add_node(&world.oracle, enter(to.slot));
    judge_use(&from, node);
    judge_use(&to, node);
    memcpy(shadow_of_use(&to), shadow_of_use(&from), to.size_bytes);
    if (one_in(2))
        CHECK(cuMemcpyPeerAsync(box.dstDevice, box.dstContext, box.srcDevice, box.srcContext,
                                to.size_bytes, stream));
    else
        CHECK(cuMemcpy3DPeerAsync(&box, stream));
    keep_use(from, node);
    keep_use(to, node);
    leave(to.slot);
}

/* Work of the default stream, and a fence for both contexts. */
static void act_peer_copy_at_once(void)
{
    struct device_use to, from;
    if (!can_name(0) || !pick_pair(&to, &from, 0))
        return;
    say("device block %d: copy from block %d between devices at once, %zu bytes", to.block,
        from.block, to.size_bytes);
    CUDA_MEMCPY3D_PEER box = box_of(&to, &from);
    oracle_add_node(&world.oracle, enter(0));
    memcpy(shadow_of_use(&to), shadow_of_use(&from), to.size_bytes);
    if (one_in(2))
        CHECK(cuMemcpyPeer(box.dstDevice, box.dstContext, box.srcDevice, box.srcContext,
                           to.size_bytes));
    else
        CHECK(cuMemcpy3DPeer(&box));
    for (int i = 0; i < device_uses.count; i++)
        device_uses.list[i].replaced = true;
    leave(0);
}

/* ---- the menu, beginning and end ---- */

static void act_peer(void)
{
    void (*const actions[])(void) = {act_peer_copy,  act_peer_copy,         act_peer_copy,
                                     act_peer_order, act_peer_copy_at_once, act_peer_memory};
    if (world.watches_device && !capture.open)
        actions[below(sizeof actions / sizeof *actions)]();
}

static void start_peer(void)
{
    CUdevice device = 0;
    if (!(world.kinds & PEERS))
        return;
    CHECK(cuDeviceGet(&device, 1));
    CHECK(cuDevicePrimaryCtxRetain(&peer.context, device));
    CHECK(cuDeviceGetDefaultMemPool(&peer_pool, device));
}

static void begin_peer(void)
{
    if (!(world.kinds & PEERS))
        return;
    enter_peer();
    for (int i = 0; i < PEER_SLOTS; i++) {
        struct slot *slot = &world.slots[STREAMS + i];
        bool blocking = one_in(2);
        CHECK(cuStreamCreate(&slot->handle, blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&peer.events[i], CU_EVENT_DISABLE_TIMING));
        slot->stream =
            oracle_add_stream(&world.oracle, blocking ? ORACLE_BLOCKING : ORACLE_NONBLOCKING, 1);
        slot->owner = NOBODY;
    }
    leave_peer();
    for (int i = 0; i < PEER_BLOCKS; i++) {
        make_peer_block(PEER_BLOCK + i);
        fill_peer(use_of_all(PEER_BLOCK + i, pick_peer_slot()));
    }
}

/* Nothing is in flight in either context any more. */
static void end_peer(void)
{
    if (!(world.kinds & PEERS))
        return;
    enter_peer();
    for (int i = 0; i < PEER_BLOCKS; i++) {
        struct device_block *block = &peer.blocks[i];
        CHECK(cuMemcpyDtoH(world.scratch, block->address, DEVICE_BLOCK_BYTES));
        if (device_is_defined())
            compare("peer block", i, world.scratch, block->expected, DEVICE_BLOCK_BYTES);
        CHECK(cuMemFree(block->address));
        block->alive = false;
    }
    for (int i = 0; i < PEER_SLOTS; i++) {
        CHECK(cuStreamDestroy(world.slots[STREAMS + i].handle));
        CHECK(cuEventDestroy(peer.events[i]));
    }
    leave_peer();
}

#endif
