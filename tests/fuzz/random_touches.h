/* The host reads and writes bytes that are in flight, by itself and in host functions. What should
 * be said of it is told in random_guard.h. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_TOUCHES_H
#define SC_TESTS_FUZZ_RANDOM_TOUCHES_H

/* ---- the host touches bytes that are in flight ---- */

static int pick_copy_on(int buffer)
{
    int found = NOBODY;
    for (int i = 0, seen = 0; i < world.copy_count; i++)
        if (in_flight(&world.copies[i]) && is_on(&world.copies[i], buffer) && one_in(++seen))
            found = i;
    return found;
}

/* Of the bytes of a copy all, a part, the first or the last, or one beside. */
static struct span pick_span_at(const struct copy *copy)
{
    size_t last = copy->offset + copy->size_bytes - 1;
    switch (below(7)) {
    case 0:
    case 1:
        return (struct span){copy->offset, copy->size_bytes};
    case 2: {
        size_t skipped = (size_t)below((int)copy->size_bytes);
        return (struct span){copy->offset + skipped, copy->size_bytes - skipped};
    }
    case 3:
        return (struct span){copy->offset, 1};
    case 4:
        return (struct span){last, 1};
    case 5:
        return (struct span){copy->offset ? copy->offset - 1 : 0, 1};
    default:
        return (struct span){last + 1 < world.buffers[copy->buffer].size_bytes ? last + 1 : last,
                             1};
    }
}

static struct span pick_span(int buffer)
{
    size_t size_bytes = world.buffers[buffer].size_bytes;
    int copy = pick_copy_on(buffer);
    if (copy != NOBODY && !one_in(5))
        return pick_span_at(&world.copies[copy]);
    size_t offset = one_in(2) ? 0 : (size_t)below((int)size_bytes);
    return (struct span){offset, 1 + (size_t)below((int)(size_bytes - offset))};
}

/* Would the touch reach bytes of a destination without a fault on one of them? */
static bool is_missed(struct copy *copy, uintptr_t start, uintptr_t end)
{
    bool missed = copy->unsure;
    for (uintptr_t from = start; from < end; from = page_of(from) + PAGE) {
        uintptr_t to = page_of(from) + PAGE < end ? page_of(from) + PAGE : end;
        bool guarded = has_byte_in(copy, page_of(from), to) &&
                       state_of(copy, page_of(from))->guarded &&
                       !state_of(copy, page_of(from))->stepped;
        missed |= has_byte_in(copy, from, to) && !(guarded && has_byte_in(copy, from, from + 1));
    }
    return missed;
}

/* Nobody could heal it: bytes of the host's would not be what they should be. */
static bool is_lost(struct copy *copy, uintptr_t start, uintptr_t end)
{
    bool is_source = copy->across && data_is_defined() && copy->snapshot != YES;
    return (writes_host(copy) || is_source) && !copy->waited && is_missed(copy, start, end);
}

/* A correct program learns first of all that it might hurt; one with hazards of what nobody could
 * heal, so that all bytes stay defined. */
static void avoid_touching(int buffer, const struct span *span, bool write)
{
    uintptr_t start = (uintptr_t)world.buffers[buffer].bytes + span->offset;
    uintptr_t end = start + span->size_bytes;
    for (int i = 0; i < world.copy_count; i++) {
        struct copy *copy = &world.copies[i];
        bool early = in_flight(copy) && is_on(copy, buffer) && has_byte_in(copy, start, end) &&
                     (write || writes_host(copy));
        if (early && (world.correct || is_lost(copy, start, end)))
            learn(copy);
    }
}

/* Where it is not known what is there, nothing can be written unchanged. */
static void touch_some(int at, bool write)
{
    struct span span = pick_span(at);
    bool changes = write && !(one_in(8) && data_is_defined());
    unsigned char change = changes ? (unsigned char)(1 + below(3)) : 0;
    avoid_touching(at, &span, write);
    say("%s %zu bytes at %zu of buffer %d%s", write ? "write" : "read", span.size_bytes,
        span.offset, at, write && !change ? ", unchanged" : "");
    touch(at, span.offset, span.size_bytes, write, change);
}

static void act_touch(void)
{
    int at = pick_buffer(pick_kind());
    bool write = one_in(2);
    if (at != NOBODY)
        touch_some(at, write);
}

/* ---- host functions touch buffers in the order of their stream ---- */

static struct host_touch {
    volatile unsigned char *bytes;
    size_t size_bytes;
    bool write;
    unsigned char values[BUFFER_BYTES]; /* to write, or read */
    sem_t called;
} host_touch;
static unsigned char function_reads[BUFFER_BYTES]; /* what it should */

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

static void touch_in_order(void *argument)
{
    struct host_touch *touch = argument;
    for (size_t i = 0; i < touch->size_bytes; i++)
        if (touch->write)
            touch->bytes[i] = touch->values[i];
        else
            touch->values[i] = touch->bytes[i];
    sem_post(&touch->called);
}

static void copy_in_order(int slot, int buffer, int direction)
{
    struct copy copy = {.direction = direction, .slot = slot, .buffer = buffer};
    copy.stream = world.slots[slot].stream;
    if (world.copy_count == COPIES_MAX)
        return;
    copy.life = world.buffers[buffer].life;
    copy.size_bytes = world.buffers[buffer].size_bytes;
    if (world.device_used + copy.size_bytes > DEVICE_BYTES)
        return;
    say("%s of it in order; node %d", direction_names[direction], world.oracle.node_count);
    draw_copy(&copy);
    issue(&copy);
}

/* What is on the stream before the function is done when it starts. */
static void end_function(int slot, int at)
{
    struct buffer *buffer = &world.buffers[at];
    struct oracle_set set;
    int stream = world.slots[slot].stream;
    oracle_reach_scope(&world.oracle, stream, scope_of(stream), &set);
    CHECK(cuLaunchHostFunc(world.slots[slot].handle, touch_in_order, &host_touch));
    if (!host_touch.write)
        memcpy(function_reads, buffer->expected, buffer->size_bytes);
    know(&set);
    touch_beside(at, host_touch.write);
    if (host_touch.write)
        memcpy(buffer->expected, host_touch.values, buffer->size_bytes);
    if (one_in(2))
        copy_in_order(slot, at, host_touch.write ? H2D : D2H);
    wait_for(&host_touch.called);
    if (!host_touch.write && data_is_defined())
        compare("what a function read of buffer", at, host_touch.values, function_reads,
                buffer->size_bytes);
    do_context_sync();
}

/* A function that writes a source or reads a destination, with copies on its stream before it and
 * behind it: nothing of that is a hazard. */
static void act_function_that_touches(void)
{
    int at = pick_buffer(pick_kind());
    int slot = pick_slot();
    if (at == NOBODY)
        return;
    struct buffer *buffer = &world.buffers[at];
    learn_all_on(at);
    say("a function on slot %d that touches buffer %d", slot, at);
    host_touch.bytes = buffer->bytes;
    host_touch.size_bytes = buffer->size_bytes;
    host_touch.write = one_in(2);
    sem_init(&host_touch.called, 0, 0);
    if (one_in(2))
        copy_in_order(slot, at, one_in(2) ? H2D : D2H);
    if (host_touch.write)
        fill_random(host_touch.values, buffer->size_bytes);
    meet(slot);
    oracle_add_node(&world.oracle, world.slots[slot].stream);
    note_unclear(world.slots[slot].stream);
    end_function(slot, at);
}

#endif
