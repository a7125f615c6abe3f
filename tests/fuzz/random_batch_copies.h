/* Batches: what their copies move, what they run into, and those that the driver refuses. A part of
 * random_batches.c.
 *
 * The copies of a batch are unordered among each other, and so no two of them have bytes in common
 * of which one writes.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_COPIES_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_COPIES_H

enum { FEW = 5, COPIES_MAX = 320, TINY = 16, STAGED_BYTES = 64 * 1024 };
enum { TO_DEVICE, FROM_DEVICE, WITHIN_DEVICE, BETWEEN_BUFFERS };

struct copy {
    int way;
    CUmemcpySrcAccessOrder order;
    struct area src, dst;                  /* of buffers */
    size_t size_bytes, device_src, result; /* offsets in the device's memory */
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

/* ---- what is learnt first ---- */

static bool is_before(const struct op *op, int slot)
{
    struct oracle_set before;
    reach_next(slot, &before);
    return op->stream == world.slots[slot].stream || before.has[op->node];
}

/* KNOWN: a source that may be read in no order is taken to be read in that of its stream
 * (docs/limits.md). A read in the call that is in no order at all is told of as a read too early,
 * if no edge was put in for the batch before. */
static bool is_read_out_of_order(const struct copy *copy, const struct op *earlier)
{
    bool is_told = !world.correct && copy == &batch.copies[0] &&
                   copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL &&
                   !is_before(earlier, batch.slot);
    return copy->order != CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && !is_told;
}

static void clear_way(const struct copy *copy, const struct area *area, bool is_written)
{
    for (int i = 0; i < world.op_count; i++) {
        struct op *op = &world.ops[i];
        if (!in_flight(op) || !meet(&op->area, area) || (!is_written && op->direction == H2D))
            continue;
        if ((!is_written && is_read_out_of_order(copy, op)) ||
            world.buffers[area->buffer].is_crowded)
            learn(op);
        else if (world.correct && !is_before(op, batch.slot))
            order_before(op, batch.slot);
    }
}

static void prepare(const struct copy *copy)
{
    const struct area *sides[] = {reads_buffer(copy) ? &copy->src : NULL,
                                  writes_buffer(copy) ? &copy->dst : NULL};
    for (int side = 0; side < 2; side++) {
        if (!sides[side])
            continue;
        if (batch.count <= FEW && count_in_flight(sides[side]->buffer) + FEW > PER_BUFFER_MAX)
            learn_all_on(sides[side]->buffer);
        clear_way(copy, sides[side], side == 1);
    }
}

/* ---- drawing ---- */

static bool has_writer(int buffer)
{
    for (int i = 0; i < world.op_count; i++)
        if (in_flight(&world.ops[i]) && is_on(&world.ops[i], buffer) &&
            world.ops[i].direction == D2H)
            return true;
    return false;
}

static enum finding finding_of(const struct op *op, int kind)
{
    bool is_pageable = kind == HEAP || kind == PAGES;
    size_t bytes = hull_of(&op->area);
    if (op->is_fragile || op->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
        return UNCERTAIN;
    if (op->direction == H2D && world.healed && bytes <= SNAPSHOT_MAX)
        return COMPARED;
    if (op->direction == H2D && is_pageable && bytes <= COMPARED_WHOLE)
        return COMPARED;
    return kind == PAGES || kind == PINNED ? GUARDED : UNCERTAIN;
}

/* KNOWN: nobody heals an early touch of managed memory, of pageable memory that the device uses in
 * place or that the driver is just writing, or of a small source that something in flight may be
 * writing in order (docs/limits.md). */
static bool is_fragile(const struct op *op)
{
    const struct buffer *buffer = &world.buffers[op->area.buffer];
    bool is_pageable = buffer->kind == HEAP || buffer->kind == PAGES;
    if (buffer->kind == MANAGED || buffer->is_crowded)
        return true;
    if (op->direction == D2H)
        return is_pageable;
    return world.slots[op->slot].is_unclear || has_writer(op->area.buffer) ||
           (is_pageable && world.is_in_place && hull_of(&op->area) > SNAPSHOT_MAX);
}

static struct op draw_side(const struct copy *copy, const struct area *area, int direction)
{
    struct op op = {.slot = batch.slot,
                    .stream = world.slots[batch.slot].stream,
                    .direction = direction,
                    .area = *area,
                    .order = copy->order,
                    .tracked = true,
                    .is_3d = batch.is_3d,
                    .result_offset = copy->result};
    op.is_fragile = is_fragile(&op);
    op.finding = finding_of(&op, world.buffers[area->buffer].kind);
    return op;
}

/* Behind a copy that reads in the call nothing is in flight of its source. */
static bool is_read_in_call(const struct copy *copy, const struct op *op)
{
    return op->direction == H2D && copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
}

static bool runs_into(const struct op *op, const struct op *earlier)
{
    return in_flight(earlier) && earlier->stream != op->stream &&
           (earlier->direction == D2H || op->direction == D2H) && meet(&earlier->area, &op->area);
}

static void run_into(const struct copy *copy, const struct op *op)
{
    struct oracle_set before = {{false}};
    oracle_reach(&world.oracle, op->node, &before);
    for (int i = 0; i < world.op_count; i++) {
        struct op *earlier = &world.ops[i];
        if (before.has[earlier->node] || !runs_into(op, earlier))
            continue;
        expect(is_read_in_call(copy, op) ? READ_EARLY : UNORDERED, true, earlier);
        if (is_read_in_call(copy, op))
            expect(READ_EARLY, false,
                   earlier); /* without stacks the driver's own read looks alike */
        if (is_read_in_call(copy, op))
            earlier->is_hit = true;
        else if (world.healed)
            oracle_heal(&world.oracle, op->node, earlier->node);
    }
}

/* The library reads sources in the call, beside what others' copies guard. */
static void read_beside(const struct op *op)
{
    for (int i = 0; i < world.op_count; i++)
        if (in_flight(&world.ops[i]) && world.ops[i].direction == D2H &&
            is_on(&world.ops[i], op->area.buffer) && share_a_page(&world.ops[i].area, &op->area))
            world.ops[i].is_unsure = true;
}

/* From now on the bytes there change in order: sources there are compared while they can be. */
static void seal(const struct op *writer)
{
    for (int i = 0; i < world.op_count; i++) {
        struct op *op = &world.ops[i];
        if (in_flight(op) && op->direction == H2D && is_on(op, writer->area.buffer) &&
            share_a_page(&op->area, &writer->area) &&
            (meet(&op->area, &writer->area) || is_changed(op)))
            compare_source(op);
    }
}

/* The same bytes again on the same stream: the earlier operation counts no more. */
static void repeat(const struct op *op)
{
    for (int i = 0; i < world.op_count; i++) {
        struct op *earlier = &world.ops[i];
        if (!in_flight(earlier) || earlier->stream != op->stream ||
            earlier->direction != op->direction || !is_same_area(&earlier->area, &op->area))
            continue;
        compare_source(earlier);
        earlier->tracked = false;
    }
}

static void keep(const struct op *op)
{
    if (op->direction == D2H)
        seal(op);
    else
        read_beside(op);
    repeat(op);
    world.ops[world.op_count++] = *op;
}

/* All are read before any of them writes. */
static void read_all(void)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        if (!writes_buffer(copy))
            world.arrivals[world.arrival_count++] =
                (struct arrival){world.oracle.node_count, copy->result, copy->size_bytes};
        if (reads_buffer(copy))
            pack(world.results + copy->result, &copy->src);
        else if (copy->way == WITHIN_DEVICE)
            memcpy(world.results + copy->result, world.source + copy->device_src, copy->size_bytes);
    }
}

static void write_all(void)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        if (writes_buffer(copy))
            unpack(&copy->dst, copy->way == FROM_DEVICE ? world.source + copy->device_src
                                                        : world.results + copy->result);
    }
}

/* Many copies are one node, since the oracle has room for so many. */
static int node_of(int copy)
{
    bool is_new = copy == 0 || batch.count <= FEW;
    return is_new ? oracle_add_node(&world.oracle, world.slots[batch.slot].stream)
                  : world.oracle.node_count - 1;
}

/* Each is held against what was there before the batch, and comes after those that stand before it
 * in the list: an edge that was put in for one of them stands for it as well. The sides of a copy
 * between two buffers count as two, the source first. */
static void draw_batch(void)
{
    static struct op drawn[2 * COPIES_MAX];
    int count = 0;
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        const struct area *sides[] = {reads_buffer(copy) ? &copy->src : NULL,
                                      writes_buffer(copy) ? &copy->dst : NULL};
        int node = node_of(i);
        for (int side = 0; side < 2; side++) {
            if (!sides[side])
                continue;
            struct op op = draw_side(copy, sides[side], side ? D2H : H2D);
            if (side && sides[0])
                node = node_of(i);
            op.node = node;
            run_into(copy, &op);
            if (is_read_in_call(copy, &op))
                read_beside(&op);
            else
                drawn[count++] = op;
        }
    }
    read_all();
    for (int i = 0; i < count; i++)
        keep(&drawn[i]);
    write_all();
}

/* ---- the calls ---- */

/* cuda.h declares the later one of each pair by the name of both. */
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                    size_t count, CUmemcpyAttributes *attributes, size_t *first,
                                    size_t attribute_count, size_t *failed, CUstream stream);
CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                                      unsigned long long flags, CUstream stream);

static struct {
    CUdeviceptr dsts[COPIES_MAX], srcs[COPIES_MAX];
    size_t sizes[COPIES_MAX];
    CUDA_MEMCPY3D_BATCH_OP copies[COPIES_MAX];
} given;

static CUdeviceptr source_of(const struct copy *copy)
{
    return reads_buffer(copy) ? address_of(&copy->src) : world.device + copy->device_src;
}

/* Where bytes land that another buffer gets nobody looks. */
static CUdeviceptr target_of(const struct copy *copy)
{
    return writes_buffer(copy) ? address_of(&copy->dst)
                               : world.device + SOURCE_BYTES + copy->result;
}

static CUmemcpy3DOperand operand_of(CUdeviceptr address, const struct area *area)
{
    CUmemcpy3DOperand operand = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER};
    operand.op.ptr.ptr = address;
    operand.op.ptr.rowLength = area && area->rows > 1 ? area->pitch : 0;
    return operand;
}

static void make_arguments(void)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        const struct area *src = reads_buffer(copy) ? &copy->src : NULL;
        const struct area *dst = writes_buffer(copy) ? &copy->dst : NULL;
        const struct area *any = src ? src : dst;
        given.dsts[i] = target_of(copy);
        given.srcs[i] = source_of(copy);
        given.sizes[i] = copy->size_bytes;
        given.copies[i] = (CUDA_MEMCPY3D_BATCH_OP){
            .src = operand_of(source_of(copy), src),
            .dst = operand_of(target_of(copy), dst),
            .extent = {any ? any->width : copy->size_bytes, any ? any->rows : 1, 1},
            .srcAccessOrder = copy->order,
        };
    }
}

static CUresult call_flat(CUstream stream, size_t *failed)
{
    size_t count = (size_t)batch.count, attributes = (size_t)batch.attribute_count;
    if (!failed)
        return cuMemcpyBatchAsync_v2(given.dsts, given.srcs, given.sizes, count, batch.attributes,
                                     batch.first, attributes, stream);
    return cuMemcpyBatchAsync(given.dsts, given.srcs, given.sizes, count, batch.attributes,
                              batch.first, attributes, failed, stream);
}

static CUresult call_3d(CUstream stream, size_t *failed)
{
    size_t count = (size_t)batch.count;
    return failed ? cuMemcpy3DBatchAsync(count, given.copies, failed, 0, stream)
                  : cuMemcpy3DBatchAsync_v2(count, given.copies, 0, stream);
}

static void describe_batch(void)
{
    static const char *const ways[] = {"to", "from", "within", "between"};
    static const char *const orders[] = {"?", "STREAM", "DURING", "ANY"};
    say("%s batch of %d on stream %d; node %d", batch.is_3d ? "3D" : "flat", batch.count,
        batch.slot, world.oracle.node_count);
    for (int i = 0; i < batch.count && i < FEW; i++) {
        const struct copy *copy = &batch.copies[i];
        say("  %s, %s, %zu bytes; from buffer %d at %zu, to %d at %zu, %zu rows", ways[copy->way],
            orders[copy->order], copy->size_bytes, reads_buffer(copy) ? copy->src.buffer : NOBODY,
            copy->src.offset, writes_buffer(copy) ? copy->dst.buffer : NOBODY, copy->dst.offset,
            reads_buffer(copy) ? copy->src.rows : copy->dst.rows);
    }
}

static bool pick_batch(void)
{
    batch.is_3d = one_in(3);
    batch.slot = below(STREAMS);
    batch.count = 0;
    if (one_in(20))
        pick_many();
    for (int left = batch.count ? 0 : 1 + below(FEW); left > 0; left--) {
        struct copy copy = {0};
        if (pick_copy(&copy))
            batch.copies[batch.count++] = copy;
    }
    pick_orders();
    return batch.count && world.op_count + 2 * batch.count <= OPS_MAX &&
           world.arrival_count + batch.count <= OPS_MAX;
}

/* KNOWN: the driver reads a large pageable source late against its order, which mode=report leaves
 * as it is (docs/limits.md). */
static bool is_read_late(const struct copy *copy)
{
    int kind = world.buffers[copy->src.buffer].kind;
    return !world.healed && reads_buffer(copy) && (kind == HEAP || kind == PAGES) &&
           copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL &&
           hull_of(&copy->src) > STAGED_BYTES;
}

static void act_batch(void)
{
    size_t failed = 0;
    if (!pick_batch())
        return;
    for (int i = 0; i < batch.count; i++)
        prepare(&batch.copies[i]);
    describe_batch();
    make_arguments();
    draw_batch();
    CUstream stream = world.slots[batch.slot].handle;
    CHECK((batch.is_3d ? call_3d : call_flat)(stream, one_in(2) ? &failed : NULL));
    for (int i = 0; i < batch.count; i++)
        if (is_read_late(&batch.copies[i])) {
            do_context_sync();
            break;
        }
}

#endif
