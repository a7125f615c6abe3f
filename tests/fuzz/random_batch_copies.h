/* What the copies of a batch run into, what they move, and how they are protected. A part of
 * random_batches.c.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_BATCH_COPIES_H
#define SC_TESTS_FUZZ_RANDOM_BATCH_COPIES_H

/* ---- what the call does by itself ---- */

static bool is_pageable_area(const struct area *area)
{
    int kind = world.buffers[area->buffer].kind;
    return kind == HEAP || kind == PAGES;
}

static bool is_managed_area(const struct area *area)
{
    return world.buffers[area->buffer].kind == MANAGED;
}

static bool is_during_call(const struct copy *copy)
{
    return copy->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && !world.is_in_place;
}

/* Between host addresses, one of them pageable: the call copies by itself, in no order. */
static bool is_copied_by_call(const struct copy *copy)
{
    return is_during_call(copy) && copy->way == BETWEEN_BUFFERS && !is_managed_area(&copy->src) &&
           !is_managed_area(&copy->dst) &&
           (is_pageable_area(&copy->src) || is_pageable_area(&copy->dst)) &&
           hull_of(&copy->src) <= STAGED_BYTES;
}

/* The call waits for its stream, and for the copy. */
static bool is_waited_for(const struct copy *copy)
{
    if (!is_during_call(copy))
        return false;
    if (copy->way != BETWEEN_BUFFERS)
        return !reads_buffer(copy) || !is_pageable_area(&copy->src);
    return is_managed_area(&copy->src) ||
           (!is_pageable_area(&copy->src) && !is_pageable_area(&copy->dst));
}

static bool is_written_in_call(const struct copy *copy)
{
    return is_waited_for(copy) || is_copied_by_call(copy);
}

/* ---- what is learnt first ---- */

static bool is_before(const struct op *op, int slot)
{
    struct oracle_set before;
    reach_next(slot, &before);
    return op->stream == world.slots[slot].stream || before.has[op->node];
}

/* KNOWN: a call that writes its target by itself is held against the order of its stream. What it
 * runs into is learnt of, as that is asked for in random_programs.
 *
 * KNOWN: a source that may be read in no order is taken to be read in that of its stream
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
            (is_written && is_written_in_call(copy)) || world.buffers[area->buffer].is_crowded)
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
    if (copy->reads_shared)
        order_before_use(&copy->shared_src);
    if (copy->writes_shared)
        order_before_use(&copy->shared_dst);
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
    return GUARDED;
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

static bool is_done_in_call(const struct copy *copy, const struct op *op)
{
    return is_read_in_call(copy, op) || (op->direction == D2H && is_written_in_call(copy));
}

static bool runs_into(const struct op *op, const struct op *earlier)
{
    return in_flight(earlier) && earlier->stream != op->stream &&
           (earlier->direction == D2H || op->direction == D2H) && meet(&earlier->area, &op->area);
}

/* `first`: of the batch's nodes. */
static void run_into(const struct copy *copy, const struct op *op, int first)
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
            oracle_heal(&world.oracle, first, earlier->node);
    }
}

/* The library reads sources in the call, beside what others' copies guard; the driver writes
 * targets there. */
static void touch_beside(const struct op *op)
{
    for (int i = 0; i < world.op_count; i++)
        if (in_flight(&world.ops[i]) && (world.ops[i].direction == D2H || op->direction == D2H) &&
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

/* The same bytes again on the same stream: the earlier operation counts no more, but for data that
 * nobody would heal: then that goes for the later one. */
static void repeat(struct op *op)
{
    for (int i = 0; i < world.op_count; i++) {
        struct op *earlier = &world.ops[i];
        if (!in_flight(earlier) || earlier->stream != op->stream ||
            earlier->direction != op->direction || !is_same_area(&earlier->area, &op->area))
            continue;
        compare_source(earlier);
        op->is_fragile |= !is_healed_at(earlier, earlier->area.offset);
        earlier->tracked = false;
    }
}

static void keep(const struct op *op)
{
    struct op *kept = &world.ops[world.op_count];
    if (op->direction == D2H)
        seal(op);
    else
        touch_beside(op);
    *kept = *op;
    repeat(kept);
    world.op_count++;
}

/* All are read before any of them writes. */
static void read_all(void)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        if (!writes_buffer(copy) && !copy->writes_shared)
            world.arrivals[world.arrival_count++] =
                (struct arrival){world.oracle.node_count, copy->result, copy->size_bytes};
        if (reads_buffer(copy))
            pack(world.results + copy->result, &copy->src);
        else if (copy->way == WITHIN_DEVICE)
            memcpy(world.results + copy->result, device_bytes_of(copy), copy->size_bytes);
    }
}

static void write_all(void)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        if (writes_buffer(copy))
            unpack(&copy->dst,
                   copy->way == FROM_DEVICE ? device_bytes_of(copy) : world.results + copy->result);
        else if (copy->writes_shared)
            memcpy(shadow_of_use(&copy->shared_dst), world.results + copy->result,
                   copy->size_bytes);
    }
}

static void touch_in_call(const struct op *op)
{
    if (op->direction == D2H)
        seal(op);
    touch_beside(op);
}

/* The call has waited for what comes before its first node. */
static void know_earlier(int first)
{
    struct oracle_set before = {{false}};
    bool waits = false;
    for (int i = 0; i < batch.count; i++)
        waits |= is_waited_for(&batch.copies[i]);
    oracle_reach(&world.oracle, first, &before);
    for (int node = first; node < world.oracle.node_count; node++)
        before.has[node] = false;
    if (waits)
        know(&before);
}

/* Many copies are one node, since the oracle has room for so many. */
static int node_of(int copy)
{
    bool is_new = copy == 0 || batch.count <= FEW;
    return is_new ? oracle_add_node(&world.oracle, world.slots[batch.slot].stream)
                  : world.oracle.node_count - 1;
}

static void judge_shared(struct copy *copy, int first, int node)
{
    copy->shared_src.node = copy->shared_dst.node = node;
    if (copy->reads_shared)
        judge_use_from(&copy->shared_src, first, node);
    if (copy->writes_shared)
        judge_use_from(&copy->shared_dst, first, node);
}

static void keep_shared(void)
{
    for (int i = 0; i < batch.count; i++) {
        const struct copy *copy = &batch.copies[i];
        if (is_waited_for(copy))
            continue;
        if (copy->reads_shared)
            keep_use(copy->shared_src, copy->shared_src.node);
        if (copy->writes_shared)
            keep_use(copy->shared_dst, copy->shared_dst.node);
    }
}

/* Each is held against what was there before the batch. An edge that was put in for one of them
 * stands for all, and those behind it in the list are not found any more. The sides of a copy
 * between two buffers count as two, the source first. */
static void draw_batch(void)
{
    static struct op drawn[2 * COPIES_MAX];
    int count = 0, first = world.oracle.node_count;
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
            run_into(copy, &op, first);
            if (is_done_in_call(copy, &op))
                touch_in_call(&op);
            else
                drawn[count++] = op;
        }
        judge_shared(&batch.copies[i], first, node);
    }
    know_earlier(first);
    read_all();
    for (int i = 0; i < count; i++)
        keep(&drawn[i]);
    keep_shared();
    write_all();
}

#endif
