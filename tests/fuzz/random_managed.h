/* Asynchronous copies between buffers of which one is managed memory: the device makes them in the
 * order of their stream, and the call waits for nothing. Each is two operations, one on either
 * buffer. With pageable memory on the other side it is one, or a wait for the stream. Managed
 * memory that the call names as the host's is as pageable memory, and its source waits for the
 * stream as well. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_MANAGED_H
#define SC_TESTS_FUZZ_RANDOM_MANAGED_H

/* One that is to be had, with room for one more operation on either side. */
static bool pick_buffers(struct copy *from, struct copy *to)
{
    if (!pick_copy(from) || !pick_other(from, to) || (!is_managed(from) && !is_managed(to)))
        return false;
    from->size_bytes = to->size_bytes =
        from->size_bytes < to->size_bytes ? from->size_bytes : to->size_bytes;
    return world.copy_count + 2 <= COPIES_MAX && count_in_flight(from->buffer) < PER_BUFFER_MAX &&
           count_in_flight(to->buffer) < PER_BUFFER_MAX;
}

static enum across pick_across(const struct copy *from, const struct copy *to)
{
    switch (below(5)) {
    case 0:
        return AS_PEERS;
    case 1:
        return is_managed(to) ? AS_UPLOAD : AS_DOWNLOAD;
    case 2:
        return is_managed(from) ? AS_DOWNLOAD : AS_UPLOAD;
    default:
        return UNIFIED;
    }
}

/* Out of pinned memory of the library's, a copy to host memory would be one that waits. Functions
 * that name the source as the device's are given none. */
static bool keeps_source(const struct copy *from, const struct copy *to, enum across across)
{
    if (across == UNIFIED)
        return is_managed(from) && !is_managed(to);
    return across != AS_UPLOAD;
}

/* Does the call read the source? */
static bool is_read_at_once(const struct copy *from, enum across across)
{
    return across == AS_UPLOAD && is_managed(from);
}

/* Is all of it complete when the call returns? */
static bool is_done_at_once(const struct copy *to, enum across across)
{
    return across == AS_DOWNLOAD && is_managed(to);
}

/* What the source held is kept where a copy to the device would go. */
static void draw_pair(struct copy *from, struct copy *to)
{
    draw_copy(from);
    memcpy(world.expected + world.device_used, shadow_of_copy(from), from->size_bytes);
    world.device_used += from->size_bytes;
    draw_copy(to);
    memcpy(shadow_of_copy(to), shadow_of_copy(from), to->size_bytes);
}

/* The call has waited for its stream when it reads the source. */
static void draw_read(struct copy *from, struct copy *to)
{
    draw_touch(from, oracle_add_node(&world.oracle, from->stream));
    know_scope(from->stream, scope_of(from->stream));
    draw_copy(to);
    memcpy(shadow_of_copy(to), shadow_of_copy(from), to->size_bytes);
}

static void draw_across(struct copy *from, struct copy *to, enum across across)
{
    if (is_done_at_once(to, across))
        draw_done(from, to);
    else if (is_read_at_once(from, across))
        draw_read(from, to);
    else
        draw_pair(from, to);
}

static void act_managed_across(void)
{
    struct copy from = {.direction = H2D, .slot = pick_slot(), .across = true}, to;
    if (!pick_buffers(&from, &to))
        return;
    const enum across across = pick_across(&from, &to);
    from.keeps_source = keeps_source(&from, &to, across);
    if (!is_read_at_once(&from, across) && !is_done_at_once(&to, across))
        learn_equals(&from);
    if (world.correct) {
        avoid_conflicts(&from);
        avoid_conflicts(&to);
    }
    say("managed copy%s from buffer %d to %d on slot %d, %zu bytes at %zu and %zu; from node %d on",
        across_names[across], from.buffer, to.buffer, from.slot, from.size_bytes, from.offset,
        to.offset, world.oracle.node_count);
    from.stream = to.stream = enter(from.slot);
    draw_across(&from, &to, across);
    call_across(&from, &to, across);
    if (is_done_at_once(&to, across))
        know_scope(from.stream, scope_of(from.stream));
    else
        note_marked(from.slot);
    leave(from.slot);
}

/* Between the device and managed memory that the call names as the host's: the call waits for its
 * stream. Of what comes to the host it is complete then, and of what goes to the device the source
 * has been read. */
static void act_managed_named(void)
{
    struct copy copy = {.direction = one_in(2) ? D2H : H2D, .slot = pick_slot()};
    if (!pick_copy(&copy) || !is_managed(&copy))
        return;
    if (world.correct)
        avoid_conflicts(&copy);
    say("%s by name on slot %d, buffer %d, %zu bytes at %zu", direction_names[copy.direction],
        copy.slot, copy.buffer, copy.size_bytes, copy.offset);
    copy.stream = enter(copy.slot);
    const CUstream stream = world.slots[copy.slot].handle;
    const size_t from = (size_t)below((int)(SOURCE_BYTES - copy.size_bytes));
    int node = oracle_add_node(&world.oracle, copy.stream);
    draw_touch(&copy, node);
    if (copy.direction == H2D) {
        memcpy(world.expected + world.device_used, shadow_of_copy(&copy), copy.size_bytes);
        CHECK(cuMemcpyHtoDAsync(world.device + world.device_used, (void *)copy.address,
                                copy.size_bytes, stream));
    } else {
        seal(&copy);
        memcpy(shadow_of_copy(&copy), world.source + from, copy.size_bytes);
        CHECK(
            cuMemcpyDtoHAsync((void *)copy.address, world.device + from, copy.size_bytes, stream));
    }
    know_scope(copy.stream, scope_of(copy.stream));
    keep_touch(&copy, node);
    leave(copy.slot);
}

/* The source is the program's again when the call returns. */
static void act_pageable_to_managed(void)
{
    struct copy to = {.direction = D2H, .slot = pick_slot()};
    if (!pick_copy(&to) || !is_managed(&to) || count_in_flight(to.buffer) == PER_BUFFER_MAX)
        return;
    if (to.size_bytes > sizeof world.scratch)
        to.size_bytes = sizeof world.scratch;
    if (world.correct)
        avoid_conflicts(&to);
    say("pageable copy to buffer %d on slot %d, %zu bytes at %zu; node %d", to.buffer, to.slot,
        to.size_bytes, to.offset, world.oracle.node_count);
    fill_random(world.scratch, sizeof world.scratch);
    to.stream = enter(to.slot);
    draw_copy(&to);
    memcpy(shadow_of_copy(&to), world.scratch, to.size_bytes);
    CHECK(cuMemcpyAsync(to.address, (CUdeviceptr)(uintptr_t)world.scratch, to.size_bytes,
                        world.slots[to.slot].handle));
    memset(world.scratch, 0xEE, sizeof world.scratch);
    note_marked(to.slot);
    leave(to.slot);
}

/* What the call runs into is a touch too early, and it waits for the stream. */
static void act_managed_to_pageable(void)
{
    struct copy from = {.direction = H2D, .slot = pick_slot()};
    if (!pick_copy(&from) || !is_managed(&from))
        return;
    if (from.size_bytes > sizeof world.scratch)
        from.size_bytes = sizeof world.scratch;
    if (world.correct)
        avoid_conflicts(&from);
    say("pageable copy of buffer %d on slot %d, %zu bytes at %zu", from.buffer, from.slot,
        from.size_bytes, from.offset);
    from.stream = enter(from.slot);
    int node = oracle_add_node(&world.oracle, from.stream);
    draw_touch(&from, node);
    CHECK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)world.scratch, from.address, from.size_bytes,
                        world.slots[from.slot].handle));
    if (data_is_defined())
        compare("what came from managed buffer", from.buffer, world.scratch, shadow_of_copy(&from),
                from.size_bytes);
    know_scope(from.stream, scope_of(from.stream));
    leave(from.slot);
}

#endif
