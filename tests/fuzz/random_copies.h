/* Copies and memsets: what they run into, what they move, and how a correct program orders them. A
 * part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_COPIES_H
#define SC_TESTS_FUZZ_RANDOM_COPIES_H

/* ---- operations ---- */

static bool share_a_byte(const struct copy *a, const struct copy *b)
{
    return a->buffer == b->buffer && a->life == b->life && a->offset < b->offset + b->size_bytes &&
           b->offset < a->offset + a->size_bytes;
}

/* `before`: all that `later` comes after. */
static bool conflict(const struct copy *earlier, const struct copy *later,
                     const struct oracle_set *before)
{
    return in_flight(earlier) && earlier->stream != later->stream && !before->has[earlier->node] &&
           (writes_host(earlier) || writes_host(later)) && share_a_byte(earlier, later);
}

/* The same bytes again on the same stream: the earlier one counts no more. */
static bool is_repeated(const struct copy *a, const struct copy *b)
{
    return a->stream == b->stream && a->direction == b->direction && a->buffer == b->buffer &&
           a->life == b->life && a->offset == b->offset && a->size_bytes == b->size_bytes;
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

/* Ordered or not, the driver may take the source's bytes in the call (docs/driver.md, Sources taken
 * early), and nothing keeps it from that in mode=report. */
static bool is_taken_early(const struct copy *earlier, const struct copy *later)
{
    return !world.healed && later->direction == H2D && in_flight(earlier) &&
           earlier->stream != later->stream && writes_host(earlier) && share_a_byte(earlier, later);
}

static void avoid_conflicts(const struct copy *later)
{
    struct oracle_set before;
    for (int i = 0; i < world.copy_count; i++) {
        if (is_taken_early(&world.copies[i], later))
            learn(&world.copies[i]);
        reach_next(later->slot, &before);
        if (conflict(&world.copies[i], later, &before))
            order_before(&world.copies[i], later->slot);
    }
}

/* Draws the copy, and counts what it runs into. */
static void draw_copy(struct copy *copy)
{
    struct oracle_set before = {{false}};
    protect(copy);
    if (writes_host(copy))
        seal(copy);
    copy->node = oracle_add_node(&world.oracle, copy->stream);
    oracle_reach(&world.oracle, copy->node, &before);
    for (int i = 0; i < world.copy_count; i++)
        if (conflict(&world.copies[i], copy, &before)) {
            expect(UNORDERED, true, &world.copies[i]);
            if (world.healed)
                oracle_heal(&world.oracle, copy->node, world.copies[i].node);
        }
    for (int i = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && is_repeated(&world.copies[i], copy)) {
            compare_source(&world.copies[i]);
            forget_copy(&world.copies[i]);
        }
    copy->tracked = true;
    copy->device_offset = world.device_used;
    world.copies[world.copy_count++] = *copy;
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
        CHECK(cuMemcpyHtoDAsync(world.device + world.device_used, bytes, copy->size_bytes, stream));
        memcpy(world.expected + world.device_used, shadow, copy->size_bytes);
        world.device_used += copy->size_bytes;
    } else if (copy->direction == D2H) {
        CHECK(cuMemcpyDtoHAsync(bytes, world.device + from, copy->size_bytes, stream));
        memcpy(shadow, world.source + from, copy->size_bytes);
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

static void act_copy(void)
{
    struct copy copy = {.direction = below(7) % 3, .slot = pick_slot()};
    copy.buffer = pick_buffer(copy.direction == MEMSET ? PINNED : below(KINDS));
    if (copy.buffer == NOBODY || count_in_flight(copy.buffer) == PER_BUFFER_MAX ||
        world.copy_count == COPIES_MAX)
        return;
    copy.stream = world.slots[copy.slot].stream;
    copy.life = world.buffers[copy.buffer].life;
    pick_bytes(&copy, world.buffers[copy.buffer].size_bytes);
    if (world.device_used + copy.size_bytes > DEVICE_BYTES)
        return;
    if (world.correct)
        avoid_conflicts(&copy);
    say("%s on slot %d, buffer %d, %zu bytes at %zu; node %d", direction_names[copy.direction],
        copy.slot, copy.buffer, copy.size_bytes, copy.offset, world.oracle.node_count);
    copy.stream = enter(copy.slot);
    draw_copy(&copy);
    issue(&copy);
    note_marked(copy.slot);
    leave(copy.slot);
}

#endif
