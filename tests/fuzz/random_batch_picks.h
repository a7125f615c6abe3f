/* Which copies a batch has, with which attributes. A part of random_batches.c.
 *
 * The copies of a batch are unordered among each other, and so no two of them have bytes in common
 * of which one writes.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_PICKS_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_PICKS_H

enum { FEW = 5, COPIES_MAX = 320, TINY = 16, STAGED_BYTES = 64 * 1024 };
enum { TO_DEVICE, FROM_DEVICE, WITHIN_DEVICE, BETWEEN_BUFFERS };

struct copy {
    int way;
    CUmemcpySrcAccessOrder order;
    struct area src, dst;                  /* of buffers */
    size_t size_bytes, device_src, result; /* offsets in the device's memory */
    bool reads_shared, writes_shared;      /* instead of these */
    struct device_use shared_src, shared_dst;
};

static struct batch {
    bool is_3d;
    int slot, count;
    struct copy copies[COPIES_MAX];
    int attribute_count;
    CUmemcpyAttributes attributes[COPIES_MAX + 1];
    size_t first[COPIES_MAX + 1];
} batch;

static bool reads_buffer(const struct copy *copy)
{
    return copy->way == TO_DEVICE || copy->way == BETWEEN_BUFFERS;
}

static bool writes_buffer(const struct copy *copy)
{
    return copy->way == FROM_DEVICE || copy->way == BETWEEN_BUFFERS;
}

/* ---- what a copy moves ---- */

static void pick_flat(struct area *area, size_t room)
{
    area->rows = 1;
    if (one_in(3)) {
        area->offset = 0;
        area->width = room;
    } else if (one_in(2)) {
        area->offset = room / 4 * (size_t)below(4);
        area->width = room / 4 * (size_t)(1 + below(2));
    } else {
        area->offset = (size_t)below((int)room);
        area->width = 1 + (size_t)below((int)(room - area->offset));
    }
    if (area->width > room - area->offset)
        area->width = room - area->offset;
    area->pitch = area->width;
}

static void pick_rows(struct area *area, size_t room)
{
    pick_flat(area, room);
    size_t rows = 1 + (size_t)below(6);
    if (area->width < 2 * rows || one_in(4))
        return;
    area->rows = rows;
    area->pitch = area->width / rows;
    area->width = one_in(3) ? area->pitch : 1 + (size_t)below((int)area->pitch);
}

static bool pick_area(struct area *area)
{
    int at = pick_buffer();
    if (at == NOBODY)
        return false;
    *area = (struct area){.buffer = at, .life = world.buffers[at].life};
    (batch.is_3d ? pick_rows : pick_flat)(area, world.buffers[at].size_bytes);
    return true;
}

/* As many rows of as many bytes, in another place. */
static bool pick_same_size(struct area *area, const struct area *other)
{
    int at = pick_buffer();
    if (at == NOBODY || world.buffers[at].size_bytes < hull_of(other))
        return false;
    *area = *other;
    area->buffer = at;
    area->life = world.buffers[at].life;
    area->offset = (size_t)below((int)(world.buffers[at].size_bytes - hull_of(other)) + 1);
    return true;
}

static bool clashes(const struct area *area, bool is_written)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *other = &batch.copies[i];
        if ((is_written && reads_buffer(other) && meet(area, &other->src)) ||
            (writes_buffer(other) && meet(area, &other->dst)))
            return true;
    }
    return false;
}

/* A source takes room for the oracle also where another buffer gets it. */
static bool place(struct copy *copy)
{
    const struct area *area = reads_buffer(copy) ? &copy->src : &copy->dst;
    copy->size_bytes =
        copy->way == WITHIN_DEVICE ? (size_t)(1 + below(50000)) : area->width * area->rows;
    copy->device_src = (size_t)below((int)(SOURCE_BYTES - copy->size_bytes));
    copy->result = world.result_used;
    if (copy->way == FROM_DEVICE)
        return true;
    if (world.result_used + copy->size_bytes > RESULT_BYTES)
        return false;
    world.result_used += copy->size_bytes;
    return true;
}

/* ---- blocks that are shared ---- */

static int count_in_batch(int block)
{
    int count = 0;
    for (int i = 0; i < batch.count; i++) {
        count += batch.copies[i].reads_shared && batch.copies[i].shared_src.block == block;
        count += batch.copies[i].writes_shared && batch.copies[i].shared_dst.block == block;
    }
    return count;
}

static bool meets(const struct device_use *a, bool is_one, const struct device_use *b)
{
    return is_one && !(a->reads && b->reads) && uses_meet(a, b);
}

/* With room for it, and without bytes in common with others of the batch. */
static bool is_fit(const struct device_use *use)
{
    bool fit = count_uses(use->block) + count_in_batch(use->block) < USES_AT_A_TIME &&
               device_uses.count + 2 * FEW < DEVICE_USES_MAX;
    for (int i = 0; i < batch.count; i++) {
        const struct copy *other = &batch.copies[i];
        fit &= !meets(&other->shared_src, other->reads_shared, use) &&
               !meets(&other->shared_dst, other->writes_shared, use);
    }
    return fit;
}

static void share(struct copy *copy)
{
    if (!world.shares_device || copy->size_bytes > SHARED_BYTES)
        return;
    if (!reads_buffer(copy) && one_in(2)) {
        copy->shared_src = pick_use(batch.slot, copy->size_bytes, true);
        copy->reads_shared = is_fit(&copy->shared_src);
    }
    if (!writes_buffer(copy) && one_in(2)) {
        copy->shared_dst = pick_use(batch.slot, copy->size_bytes, false);
        copy->writes_shared = is_fit(&copy->shared_dst) &&
                              !meets(&copy->shared_src, copy->reads_shared, &copy->shared_dst);
    }
}

/* What a copy from the device reads. */
static const unsigned char *device_bytes_of(const struct copy *copy)
{
    return copy->reads_shared ? shadow_of_use(&copy->shared_src) : world.source + copy->device_src;
}

static bool pick_copy(struct copy *copy)
{
    int choice = below(20);
    copy->way = choice < 9    ? TO_DEVICE
                : choice < 16 ? FROM_DEVICE
                : choice < 18 ? WITHIN_DEVICE
                              : BETWEEN_BUFFERS;
    if (reads_buffer(copy) && (!pick_area(&copy->src) || clashes(&copy->src, false)))
        return false;
    if (copy->way == FROM_DEVICE && !pick_area(&copy->dst))
        return false;
    if (copy->way == BETWEEN_BUFFERS &&
        (!pick_same_size(&copy->dst, &copy->src) || meet(&copy->dst, &copy->src)))
        return false;
    return (!writes_buffer(copy) || !clashes(&copy->dst, true)) && place(copy);
}

/* Neighbours in one buffer. */
static void pick_many(void)
{
    int at = pick_buffer();
    if (at == NOBODY)
        return;
    bool down = one_in(2);
    size_t room = world.buffers[at].size_bytes / TINY;
    int count = 60 + below(COPIES_MAX - 60);
    learn_all_on(at);
    world.buffers[at].is_crowded = true;
    for (int i = 0; i < count && (size_t)i < room; i++) {
        struct copy copy = {.way = down ? FROM_DEVICE : TO_DEVICE};
        struct area area = {at, world.buffers[at].life, (size_t)i * TINY, TINY - 3, TINY - 3, 1};
        if (down)
            copy.dst = area;
        else
            copy.src = area;
        if (place(&copy))
            batch.copies[batch.count++] = copy;
    }
}

/* Runs of copies with one set of attributes; in three dimensions each has its own. */
static void pick_orders(void)
{
    batch.attribute_count = 0;
    for (int i = 0; i < batch.count; i++) {
        if (i == 0 || one_in(3)) {
            batch.first[batch.attribute_count] = (size_t)i;
            batch.attributes[batch.attribute_count++] = (CUmemcpyAttributes){
                .srcAccessOrder = (CUmemcpySrcAccessOrder)(1 + below(3)),
                .flags = one_in(2) ? CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE : 0};
        }
        batch.copies[i].order = batch.attributes[batch.attribute_count - 1].srcAccessOrder;
    }
}

/* False: there is none. */
static bool pick_batch(void)
{
    batch.is_3d = one_in(3);
    batch.slot = below(STREAMS);
    batch.count = 0;
    if (one_in(20))
        pick_many();
    for (int left = batch.count ? 0 : 1 + below(FEW); left > 0; left--) {
        struct copy copy = {0};
        if (!pick_copy(&copy))
            continue;
        share(&copy);
        batch.copies[batch.count++] = copy;
    }
    pick_orders();
    return batch.count && world.op_count + 2 * batch.count <= OPS_MAX &&
           world.arrival_count + batch.count <= OPS_MAX;
}

#endif
