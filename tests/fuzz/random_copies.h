/* Copies and memsets: what they run into, what they move, and how a correct program orders them.
 * Those that are complete when they return are no operations: what they run into is a touch too
 * early, and in mode=fix they wait for it. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_COPIES_H
#define SC_TESTS_FUZZ_RANDOM_COPIES_H

/* ---- operations ---- */

/* `before`: all that `later` comes after. */
static bool conflict(const struct copy *earlier, const struct copy *later,
                     const struct oracle_set *before)
{
    return in_flight(earlier) && earlier->stream != later->stream && !before->has[earlier->node] &&
           (writes_host(earlier) || writes_host(later)) && share_a_byte(earlier, later);
}

/* Kernels are put in order, and waited for, only where that is asked for. */
static bool is_ordered(const struct copy *copy)
{
    return copy->direction != KERNEL || world.kernels == KERNELS_ORDERED;
}

/* The same bytes again on the same stream: the earlier one counts no more. */
static bool is_repeated(const struct copy *a, const struct copy *b)
{
    return a->stream == b->stream && a->direction == b->direction && a->buffer == b->buffer &&
           a->life == b->life && a->offset == b->offset && a->size_bytes == b->size_bytes &&
           has_same_rows(a, b);
}

/* What would come before work issued now: a node that is not there yet has the same edges. */
static void reach_next(int slot, struct oracle_set *before)
{
    int last = world.oracle.streams[world.slots[slot].stream].last;
    memset(before, 0, sizeof *before);
    oracle_reach(&world.oracle, oracle_add_node(&world.oracle, world.slots[slot].stream), before);
    world.oracle.node_count--;
    world.oracle.streams[world.slots[slot].stream].last = last;
}

static void order_before(const struct copy *copy, int slot)
{
    struct oracle_set before;
    bool nameable = world.slots[copy->slot].stream == copy->stream && can_name(copy->slot);
    int event = pick_event();
    if (!nameable || one_in(3)) {
        learn(copy);
        return;
    }
    do_record(copy->slot, event);
    if (one_in(3)) {
        int other = pick_slot();
        do_wait(other, event);
        do_record(other, event);
    }
    do_wait(slot, event);
    reach_next(slot, &before);
    if (!before.has[copy->node])
        fail("the generator did not order what it ordered");
}

static void avoid_conflicts(const struct copy *later)
{
    struct oracle_set before;
    for (int i = 0; i < world.copy_count; i++) {
        reach_next(later->slot, &before);
        if (conflict(&world.copies[i], later, &before))
            order_before(&world.copies[i], later->slot);
    }
}

static bool stays_unordered(const struct copy *earlier, const struct copy *later)
{
    return world.healed && !(is_ordered(earlier) && is_ordered(later));
}

/* What it runs into at its node, and is put behind. */
static void meet_unordered(const struct copy *copy, int node)
{
    struct oracle_set before = {{false}};
    oracle_reach(&world.oracle, node, &before);
    for (int i = 0; i < world.copy_count; i++)
        if (conflict(&world.copies[i], copy, &before) && !stays_unordered(&world.copies[i], copy)) {
            expect(UNORDERED, true, &world.copies[i]);
            if (world.healed)
                oracle_heal(&world.oracle, node, world.copies[i].node);
        }
}

/* Kernels that it runs into all the same. */
static void meet_unhealed(const struct copy *copy, int node)
{
    struct oracle_set before = {{false}};
    oracle_reach(&world.oracle, node, &before);
    for (int i = 0; i < world.copy_count; i++)
        if (conflict(&world.copies[i], copy, &before) && stays_unordered(&world.copies[i], copy))
            expect(UNORDERED, true, &world.copies[i]);
}

static void keep_copy(struct copy *copy)
{
    for (int i = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && is_repeated(&world.copies[i], copy)) {
            compare_source(&world.copies[i]);
            forget_copy(&world.copies[i]);
        }
    copy->tracked = true;
    copy->device_offset = world.device_used;
    world.copies[world.copy_count++] = *copy;
}

/* Draws the copy, and counts what it runs into. */
static void draw_copy(struct copy *copy)
{
    protect(copy);
    if (writes_host(copy))
        seal(copy);
    copy->node = oracle_add_node(&world.oracle, copy->stream);
    meet_unordered(copy, copy->node);
    meet_unhealed(copy, copy->node);
    keep_copy(copy);
}

/* Managed memory is not: that is another copy (act_managed_named). */
static bool is_named_host(const struct copy *copy)
{
    return world.buffers[copy->buffer].kind != MANAGED;
}

static void copy_up(const struct copy *copy, CUdeviceptr to, CUstream stream)
{
    const unsigned char *from = world.buffers[copy->buffer].bytes + copy->offset;
    if (copy->rows.count)
        copy_rows(copy, to, stream);
    else if (is_named_host(copy))
        CHECK(cuMemcpyHtoDAsync(to, from, copy->size_bytes, stream));
    else
        CHECK(cuMemcpyAsync(to, (CUdeviceptr)(uintptr_t)from, copy->size_bytes, stream));
}

static void copy_down(const struct copy *copy, CUdeviceptr from, CUstream stream)
{
    unsigned char *to = world.buffers[copy->buffer].bytes + copy->offset;
    if (copy->rows.count)
        copy_rows(copy, from, stream);
    else if (is_named_host(copy))
        CHECK(cuMemcpyDtoHAsync(to, from, copy->size_bytes, stream));
    else
        CHECK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, from, copy->size_bytes, stream));
}

static void issue(const struct copy *copy)
{
    struct buffer *buffer = &world.buffers[copy->buffer];
    CUstream stream = world.slots[copy->slot].handle;
    unsigned char *bytes = buffer->bytes + copy->offset;
    unsigned char *shadow = buffer->expected + copy->offset;
    unsigned char value = (unsigned char)draw();
    size_t from = (size_t)below((int)(SOURCE_BYTES - copy->size_bytes));
    if (copy->direction == H2D) {
        copy_up(copy, world.device + world.device_used, stream);
        move_runs(copy, world.expected + world.device_used, shadow);
        world.device_used += copy->size_bytes;
    } else if (copy->direction == D2H) {
        copy_down(copy, world.device + from, stream);
        move_runs(copy, shadow, world.source + from);
    } else {
        CHECK(cuMemsetD8Async((CUdeviceptr)(uintptr_t)bytes, value, copy->size_bytes, stream));
        memset(shadow, value, copy->size_bytes);
        say("  with %02x", value);
    }
}

/* Few different ranges, so that they meet often. */
static void pick_bytes(struct copy *copy, size_t size_bytes)
{
    if (one_in(3)) {
        copy->offset = 0;
        copy->size_bytes = size_bytes;
    } else if (one_in(3)) {
        copy->offset = (size_t)below((int)size_bytes);
        copy->size_bytes = 1 + (size_t)below((int)(size_bytes - copy->offset));
    } else {
        copy->offset = size_bytes / 4 * (size_t)below(4);
        copy->size_bytes = size_bytes / 4 * (size_t)(1 + below(2));
    }
    if (copy->size_bytes > size_bytes - copy->offset)
        copy->size_bytes = size_bytes - copy->offset;
}

static bool pick_copy(struct copy *copy)
{
    copy->buffer = pick_buffer(copy->direction == MEMSET ? PINNED : pick_kind());
    if (copy->buffer == NOBODY || world.copy_count == COPIES_MAX)
        return false;
    copy->stream = world.slots[copy->slot].stream;
    copy->life = world.buffers[copy->buffer].life;
    pick_bytes(copy, world.buffers[copy->buffer].size_bytes);
    copy->address = (uintptr_t)world.buffers[copy->buffer].bytes + copy->offset;
    return world.device_used + copy->size_bytes <= DEVICE_BYTES;
}

/* KNOWN: a copy that may have a snapshot leaves an equal one in flight that the device reads the
 * source itself for. */
static void learn_equals(const struct copy *copy)
{
    for (int i = 0; world.healed && copy->direction == H2D && i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && is_repeated(&world.copies[i], copy) &&
            world.copies[i].snapshot != YES)
            learn(&world.copies[i]);
}

static void make_copy(struct copy *copy)
{
    learn_equals(copy);
    if (world.correct)
        avoid_conflicts(copy);
    say("%s on slot %d, buffer %d, %zu bytes at %zu; node %d", direction_names[copy->direction],
        copy->slot, copy->buffer, copy->size_bytes, copy->offset, world.oracle.node_count);
    if (copy->rows.count)
        say("  of %d rows of %zu, %zu apart; %d slices, %zu apart", copy->rows.count,
            copy->rows.row_bytes, copy->rows.pitch, copy->rows.slices, copy->rows.slice_bytes);
    copy->stream = enter(copy->slot);
    draw_copy(copy);
    issue(copy);
    note_marked(copy->slot);
    leave(copy->slot);
}

static void act_copy(void)
{
    struct copy copy = {.direction = below(7) % 3, .slot = pick_slot()};
    if (!pick_copy(&copy) || count_in_flight(copy.buffer) == PER_BUFFER_MAX)
        return;
    pick_rows(&copy);
    make_copy(&copy);
}

/* ---- copies and memsets that are complete when they return ---- */

/* cuda.h declares only one of each pair. */
CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t bytes);
CUresult CUDAAPI cuMemcpyDtoH_v2_ptds(void *dst, CUdeviceptr src, size_t bytes);
CUresult CUDAAPI cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t bytes);
CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr dst, unsigned char value, size_t count);

static int code_of_touch(const struct copy *earlier, const struct copy *later)
{
    if (!writes_host(earlier))
        return earlier->graph ? GRAPH_OVERWRITTEN : OVERWRITTEN;
    return writes_host(later) ? WRITTEN_EARLY : READ_EARLY;
}

/* It comes after all that is before the node. */
static void draw_touch(struct copy *copy, int node)
{
    struct oracle_set before = {{false}};
    oracle_reach(&world.oracle, node, &before);
    for (int i = 0; i < world.copy_count; i++)
        if (conflict(&world.copies[i], copy, &before)) {
            expect(code_of_touch(&world.copies[i], copy), true, &world.copies[i]);
            world.copies[i].waited |= world.healed && is_ordered(&world.copies[i]);
        }
}

/* What the device gets of it is compared in the end, as of any copy. */
static void keep_touch(struct copy *copy, int node)
{
    copy->node = node;
    copy->device_offset = world.device_used;
    world.copies[world.copy_count++] = *copy;
    if (copy->direction == H2D)
        world.device_used += copy->size_bytes;
}

static unsigned char *shadow_of_copy(const struct copy *copy)
{
    return world.buffers[copy->buffer].expected + copy->offset;
}

/* In the legacy stream, or in the thread's own. */
static void touch_at_once(const struct copy *copy)
{
    bool own = copy->slot != 0;
    unsigned char *bytes = (unsigned char *)copy->address;
    unsigned char value = (unsigned char)draw();
    CUdeviceptr to = world.device + world.device_used;
    size_t offset = (size_t)below((int)(SOURCE_BYTES - copy->size_bytes));
    CUdeviceptr from = world.device + offset;
    if (copy->direction == H2D) {
        memcpy(world.expected + world.device_used, shadow_of_copy(copy), copy->size_bytes);
        CHECK((own ? cuMemcpyHtoD_v2_ptds : cuMemcpyHtoD)(to, bytes, copy->size_bytes));
    } else if (copy->direction == D2H) {
        memcpy(shadow_of_copy(copy), world.source + offset, copy->size_bytes);
        CHECK((own ? cuMemcpyDtoH_v2_ptds : cuMemcpyDtoH)(bytes, from, copy->size_bytes));
    } else {
        memset(shadow_of_copy(copy), value, copy->size_bytes);
        CHECK((own ? cuMemsetD8_v2_ptds : cuMemsetD8)(copy->address, value, copy->size_bytes));
    }
}

/* The legacy slot, or the thread's own; NOBODY where that cannot be named. */
static int pick_default_slot(void)
{
    int slot = one_in(2) ? 0 : 1 + world.thread;
    return can_name(slot) ? slot : NOBODY;
}

static void act_touch_at_once(void)
{
    struct copy copy = {.direction = below(5) % 3, .slot = pick_default_slot()};
    if (copy.slot == NOBODY || !pick_copy(&copy))
        return;
    if (world.correct)
        avoid_conflicts(&copy);
    say("synchronous %s on slot %d, buffer %d, %zu bytes at %zu", direction_names[copy.direction],
        copy.slot, copy.buffer, copy.size_bytes, copy.offset);
    copy.stream = enter(copy.slot);
    int node = oracle_add_node(&world.oracle, copy.stream);
    draw_touch(&copy, node);
    if (writes_host(&copy))
        seal(&copy);
    touch_at_once(&copy);
    know_scope(copy.stream, scope_of(copy.stream));
    keep_touch(&copy, node);
    leave(copy.slot);
}

/* Another buffer, and as many bytes of it, for the copy to be made to. */
static bool pick_other(const struct copy *from, struct copy *to)
{
    *to = *from;
    to->direction = D2H;
    if (!pick_copy(to) || to->buffer == from->buffer || world.copy_count + 1 == COPIES_MAX)
        return false;
    return true;
}

static bool is_managed(const struct copy *copy)
{
    return world.buffers[copy->buffer].kind == MANAGED;
}

/* By unified addresses; as memory of the device's; or by what one side is. */
enum across { UNIFIED, AS_PEERS, AS_UPLOAD, AS_DOWNLOAD };

static const char *const across_names[] = {"", " as of peers", " as an upload", " as a download"};

static void call_across(const struct copy *from, const struct copy *to, enum across across)
{
    CUstream stream = world.slots[from->slot].handle;
    CUcontext own = NULL;
    switch (across) {
    case UNIFIED:
        CHECK(cuMemcpyAsync(to->address, from->address, to->size_bytes, stream));
        break;
    case AS_PEERS:
        CHECK(cuCtxGetCurrent(&own));
        CHECK(cuMemcpyPeerAsync(to->address, own, from->address, own, to->size_bytes, stream));
        break;
    case AS_UPLOAD:
        CHECK(cuMemcpyHtoDAsync(to->address, (const void *)from->address, to->size_bytes, stream));
        break;
    case AS_DOWNLOAD:
        CHECK(cuMemcpyDtoHAsync((void *)to->address, from->address, to->size_bytes, stream));
        break;
    }
}

/* One that is complete when the call returns. */
static void draw_done(struct copy *from, struct copy *to)
{
    int node = oracle_add_node(&world.oracle, from->stream);
    draw_touch(from, node);
    draw_touch(to, node);
    seal(to);
    memcpy(shadow_of_copy(to), shadow_of_copy(from), to->size_bytes);
}

/* Between two buffers, which the driver completes in the call: synchronous, or on a stream, unless
 * one of them is managed memory (random_managed.h). In programs that have managed memory the call
 * may name pinned memory anything. */
static void act_copy_across(void)
{
    bool sync = one_in(2);
    struct copy from = {.direction = H2D, .slot = sync ? pick_default_slot() : pick_slot()}, to;
    if (from.slot == NOBODY || !pick_copy(&from) || !pick_other(&from, &to) ||
        (!sync && (is_managed(&from) || is_managed(&to))))
        return;
    const enum across across = !sync && world.kinds & OF_MANAGED ? (enum across)below(4) : UNIFIED;
    from.size_bytes = to.size_bytes =
        from.size_bytes < to.size_bytes ? from.size_bytes : to.size_bytes;
    if (world.correct) {
        avoid_conflicts(&from);
        avoid_conflicts(&to);
    }
    say("%s%s from buffer %d to %d on slot %d, %zu bytes at %zu and %zu",
        sync ? "synchronous copy" : "copy", across_names[across], from.buffer, to.buffer, from.slot,
        from.size_bytes, from.offset, to.offset);
    from.stream = to.stream = enter(from.slot);
    draw_done(&from, &to);
    if (!sync)
        call_across(&from, &to, across);
    else
        CHECK((from.slot ? cuMemcpy_ptds : cuMemcpy)(to.address, from.address, to.size_bytes));
    know_scope(from.stream, scope_of(from.stream));
    leave(from.slot);
}

#endif
