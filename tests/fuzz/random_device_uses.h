/* What operations do with device memory that streams share, and what the library should say of it.
 *
 * The oracle keeps the uses as track/device.h has it: a later one stands for earlier ones that it
 * comes after and whose bytes it has. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_DEVICE_USES_H
#define SC_TESTS_FUZZ_RANDOM_DEVICE_USES_H

enum {
    DEVICE_BLOCKS = 3,
    DEVICE_BLOCK_BYTES = 256, /* no more than the host's image */
    DEVICE_USES_MAX = 1024,
    USES_AT_A_TIME = 8, /* of more conflicts at a time the library keeps a count */
};

struct device_block {
    bool alive, pooled;
    int life;
    CUdeviceptr address;
    unsigned char expected[DEVICE_BLOCK_BYTES];
};

static struct {
    struct device_block blocks[DEVICE_BLOCKS];
    struct device_use uses[DEVICE_USES_MAX];
    int count, lives;
    bool tainted; /* nodes of one launch race, which nobody heals: bytes mean nothing */
} shared;

/* ---- uses ---- */

/* Cells of graphs come behind the blocks (use_of_cell), and live as long as the program. */
static int life_of(int block)
{
    return block < DEVICE_BLOCKS ? shared.blocks[block].life : 0;
}

static bool is_pending(const struct device_use *use)
{
    return !use->replaced && use->life == life_of(use->block) &&
           !world.oracle.nodes[use->node].done;
}

static bool uses_meet(const struct device_use *a, const struct device_use *b)
{
    return a->block == b->block && a->offset < b->offset + b->size_bytes &&
           b->offset < a->offset + a->size_bytes;
}

/* `before`: all that `later` comes after. */
static bool uses_conflict(const struct device_use *earlier, const struct device_use *later,
                          const struct oracle_set *before)
{
    return is_pending(earlier) && earlier->stream != later->stream && !before->has[earlier->node] &&
           !(earlier->reads && later->reads) && uses_meet(earlier, later);
}

static bool is_put_in_order(const struct device_use *earlier, const struct device_use *later)
{
    bool asked = world.kernels == KERNELS_ORDERED || !(earlier->is_kernel || later->is_kernel);
    return world.healed && asked;
}

/* Before the use is kept, which its node comes with. The library finds what one use runs into, and
 * then puts the stream behind all of it. */
static void judge_use(const struct device_use *use, int node)
{
    struct oracle_set before = {{false}};
    int found[DEVICE_USES_MAX];
    int count = 0;
    oracle_reach(&world.oracle, node, &before);
    for (int i = 0; i < shared.count; i++)
        if (uses_conflict(&shared.uses[i], use, &before))
            found[count++] = i;
    for (int i = 0; i < count; i++) {
        const struct device_use *earlier = &shared.uses[found[i]];
        say("  of the use of node %d", earlier->node);
        expect_call(earlier->of_allocation || use->of_allocation ? DEVICE_ALLOCATION
                                                                 : DEVICE_IN_FLIGHT,
                    true);
        if (is_put_in_order(earlier, use))
            oracle_heal(&world.oracle, node, earlier->node);
    }
}

static bool stands_for(const struct device_use *later, const struct device_use *earlier,
                       const struct oracle_set *before)
{
    return (!later->reads || earlier->reads) && later->block == earlier->block &&
           later->offset <= earlier->offset &&
           earlier->offset + earlier->size_bytes <= later->offset + later->size_bytes &&
           (earlier->stream == later->stream || before->has[earlier->node]);
}

static void keep_use(struct device_use use, int node)
{
    struct oracle_set before = {{false}};
    use.node = node;
    oracle_reach(&world.oracle, node, &before);
    for (int i = 0; i < shared.count; i++)
        if (is_pending(&shared.uses[i]) && stands_for(&use, &shared.uses[i], &before))
            shared.uses[i].replaced = true;
    shared.uses[shared.count++] = use;
}

static int count_uses(int block)
{
    int count = 0;
    for (int i = 0; i < shared.count; i++)
        count += shared.uses[i].block == block && is_pending(&shared.uses[i]);
    return count;
}

/* ---- what a correct program does first ---- */

static void order_use(const struct device_use *earlier, int slot)
{
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
    for (int i = 0; world.correct && i < shared.count; i++) {
        reach_next(later->slot, &before);
        if (uses_conflict(&shared.uses[i], later, &before))
            order_use(&shared.uses[i], later->slot);
    }
}

#endif
