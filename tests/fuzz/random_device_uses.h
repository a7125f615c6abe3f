/* What operations do with device memory that streams share, and what the library should say of it.
 *
 * Uses are kept as track/device.h has it: a later one stands for earlier ones that it comes after
 * and whose bytes it has. Both kinds of random programs share this. Who includes it has a `world`
 * with oracle, say() and expect_call(), and defines the two functions below. Include once.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_DEVICE_USES_H
#define SC_TESTS_FUZZ_RANDOM_DEVICE_USES_H

enum {
    DEVICE_USES_MAX = 1024,
    USES_AT_A_TIME = 8, /* of more conflicts at a time the library keeps a count */
};

/* What an operation does with a block that streams share. */
struct device_use {
    int slot, stream, node, block, life;
    size_t offset, size_bytes;
    bool reads; /* merely */
    bool of_allocation;
    bool is_kernel;    /* random_kernels.h */
    bool replaced;     /* a later one stands for it */
    int told;          /* of its node in a graph */
    bool ends_unseen;  /* of a node before one that writes a value */
    bool unseen;       /* nothing is held against it any more: programs put it in order */
    bool may_be_known; /* to the host by such a value: where it is complete it is no hazard */
    bool is_heard_of;  /* by such a value, which the host has seen */
};

static struct {
    struct device_use list[DEVICE_USES_MAX];
    int count;
} device_uses;

/* A name of its own for every life of the block. */
static int life_of(int block);

/* Would the library put the later one behind the earlier one? */
static bool is_put_in_order(const struct device_use *earlier, const struct device_use *later);

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

/* Before the use is kept, which its node comes with. The library finds what one use runs into, and
 * then puts the stream behind all of it: `first` is the first node that comes behind. */
static void judge_use_from(const struct device_use *use, int first, int node)
{
    struct oracle_set before = {{false}};
    int found[DEVICE_USES_MAX];
    int count = 0;
    oracle_reach(&world.oracle, node, &before);
    for (int i = 0; i < device_uses.count; i++)
        if (uses_conflict(&device_uses.list[i], use, &before) && !device_uses.list[i].unseen)
            found[count++] = i;
    for (int i = 0; i < count; i++) {
        const struct device_use *earlier = &device_uses.list[found[i]];
        if (earlier->is_heard_of)
            continue;
        say("  of the use of node %d", earlier->node);
        expect_call(earlier->of_allocation || use->of_allocation ? DEVICE_ALLOCATION
                                                                 : DEVICE_IN_FLIGHT,
                    !earlier->may_be_known);
        if (is_put_in_order(earlier, use))
            oracle_heal(&world.oracle, first, earlier->node);
    }
}

static void judge_use(const struct device_use *use, int node)
{
    judge_use_from(use, node, node);
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
    for (int i = 0; i < device_uses.count; i++)
        if (!use.unseen && is_pending(&device_uses.list[i]) &&
            stands_for(&use, &device_uses.list[i], &before))
            device_uses.list[i].replaced = true;
    device_uses.list[device_uses.count++] = use;
}

static int count_uses(int block)
{
    int count = 0;
    for (int i = 0; i < device_uses.count; i++)
        count += device_uses.list[i].block == block && is_pending(&device_uses.list[i]);
    return count;
}

#endif
