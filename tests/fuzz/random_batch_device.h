/* Blocks of device memory that the copies of batches share, with each other and with memsets
 * (SC501, with device=1 only). A part of random_batches.c.
 *
 * The copies of a batch are judged one by one, and all of them come behind what was found for any.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_DEVICE_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_DEVICE_H

enum { SHARED_BLOCKS = 3, SHARED_BYTES = 32 * 1024 };

static struct {
    CUdeviceptr address;
    unsigned char expected[SHARED_BYTES];
} shared[SHARED_BLOCKS];

/* They live as long as the process. */
static int life_of(int block)
{
    (void)block;
    return 0;
}

static bool is_put_in_order(const struct device_use *earlier, const struct device_use *later)
{
    (void)earlier;
    (void)later;
    return world.healed;
}

static CUdeviceptr address_of_use(const struct device_use *use)
{
    return shared[use->block].address + use->offset;
}

static unsigned char *shadow_of_use(const struct device_use *use)
{
    return shared[use->block].expected + use->offset;
}

/* Few different ranges, so that they meet often. */
static struct device_use pick_use(int slot, size_t size_bytes, bool reads)
{
    struct device_use use = {.slot = slot,
                             .stream = world.slots[slot].stream,
                             .block = below(SHARED_BLOCKS),
                             .size_bytes = size_bytes,
                             .reads = reads};
    use.offset = one_in(2) ? 0 : (size_t)below((int)(SHARED_BYTES - size_bytes) + 1);
    return use;
}

/* What a correct program does first. */
static void order_before_use(const struct device_use *later)
{
    struct oracle_set before;
    for (int i = 0; world.correct && i < device_uses.count; i++) {
        const struct device_use *earlier = &device_uses.list[i];
        reach_next(later->slot, &before);
        if (!uses_conflict(earlier, later, &before))
            continue;
        int event = below(EVENTS);
        if (one_in(3)) {
            do_stream_sync(earlier->slot);
        } else {
            do_record(earlier->slot, event);
            do_wait(later->slot, event);
        }
    }
}

static void act_fill_shared(void)
{
    size_t size_bytes = one_in(2) ? SHARED_BYTES : 1 + (size_t)below(SHARED_BYTES);
    struct device_use use = pick_use(below(STREAMS), size_bytes, false);
    unsigned char value = (unsigned char)draw();
    if (count_uses(use.block) >= USES_AT_A_TIME || device_uses.count == DEVICE_USES_MAX)
        return;
    order_before_use(&use);
    say("shared block %d: memset on stream %d, %zu bytes at %zu; node %d", use.block, use.slot,
        use.size_bytes, use.offset, world.oracle.node_count);
    int node = oracle_add_node(&world.oracle, use.stream);
    judge_use(&use, node);
    CHECK(cuMemsetD8Async(address_of_use(&use), value, size_bytes, world.slots[use.slot].handle));
    keep_use(use, node);
    memset(shadow_of_use(&use), value, size_bytes);
}

static void make_shared_blocks(void)
{
    for (int block = 0; block < SHARED_BLOCKS; block++) {
        CHECK(cuMemAlloc(&shared[block].address, SHARED_BYTES));
        CHECK(cuMemsetD8(shared[block].address, 0, SHARED_BYTES));
    }
}

/* Nothing is in flight any more. */
static void check_shared_blocks(void)
{
    for (int block = 0; block < SHARED_BLOCKS && world.shares_device; block++) {
        CHECK(cuMemcpyDtoH(world.landed, shared[block].address, SHARED_BYTES));
        if (data_is_defined())
            compare("shared block", block, world.landed, shared[block].expected, SHARED_BYTES);
        memcpy(shared[block].expected, world.landed, SHARED_BYTES);
    }
}

#endif
