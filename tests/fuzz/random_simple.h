/* Programs in which nothing captures, and most streams are not blocking: there small uploads,
 * downloads, kernels and records go ways of their own. The same copies are made again and again. A
 * part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_SIMPLE_H
#define SC_TESTS_FUZZ_RANDOM_SIMPLE_H

enum { SMALL_COPY_BYTES = 4096 };

static bool can_be_made(const struct copy *copy)
{
    return world.copy_count < COPIES_MAX && world.device_used + copy->size_bytes <= DEVICE_BYTES;
}

static bool can_be_repeated(const struct copy *copy, const struct copy *like)
{
    bool is_plain = !copy->graph && !copy->across && !copy->rows.count;
    return is_plain && copy->direction == like->direction && copy->device_offset &&
           is_on(copy, copy->buffer) && copy->buffer == like->buffer && copy->slot == like->slot &&
           world.slots[copy->slot].stream == copy->stream;
}

/* One that was made already. */
static bool pick_earlier(struct copy *copy)
{
    const struct copy *found = NULL;
    for (int i = 0, seen = 0; i < world.copy_count; i++)
        if (can_be_repeated(&world.copies[i], copy) && one_in(++seen))
            found = &world.copies[i];
    if (found) {
        copy->stream = found->stream;
        copy->life = found->life;
        copy->offset = found->offset;
        copy->size_bytes = found->size_bytes;
        copy->address = found->address;
    }
    return found && can_be_made(copy);
}

/* The first or the last bytes of the buffer, or some in between. */
static bool pick_small(struct copy *copy)
{
    const struct buffer *buffer = &world.buffers[copy->buffer];
    size_t limit = buffer->size_bytes < SMALL_COPY_BYTES ? buffer->size_bytes : SMALL_COPY_BYTES;
    copy->stream = world.slots[copy->slot].stream;
    copy->life = buffer->life;
    copy->size_bytes = 1 + (size_t)below((int)limit);
    copy->offset = (size_t)below(3) * ((buffer->size_bytes - copy->size_bytes) / 2);
    copy->address = (uintptr_t)buffer->bytes + copy->offset;
    return can_be_made(copy);
}

static void copy_again(int direction, int slot, int buffer)
{
    struct copy copy = {.direction = direction, .slot = slot, .buffer = buffer};
    if (one_in(2) ? pick_earlier(&copy) : pick_small(&copy))
        make_copy(&copy);
}

/* Several of one buffer, in one stream, mostly behind one that the host has waited for. */
static void act_simple_copies(void)
{
    int direction = one_in(3) ? D2H : H2D;
    int slot = pick_slot(), buffer = pick_buffer(one_in(3) ? pick_kind() : PINNED);
    bool waits = !one_in(4);
    if (buffer == NOBODY)
        return;
    for (int left = 2 + below(6); left > 0; left--) {
        if (count_in_flight(buffer) < PER_BUFFER_MAX)
            copy_again(direction, slot, buffer);
        if (waits)
            do_stream_sync(slot);
        else if (one_in(3))
            touch_some(buffer, one_in(2));
        waits = one_in(8);
    }
}

/* It may write any memory of the host's, as far as the library knows. */
static void act_idle_kernel(void)
{
    struct launch_uses launch = {.slot = pick_slot()};
    launch_kernel(&launch);
}

static void act_records(void)
{
    int event = pick_event(), slot = pick_slot();
    for (int left = 1 + below(3); left > 0; left--) {
        do_record(slot, event);
        if (one_in(3))
            slot = pick_slot();
    }
    switch (below(4)) {
    case 0:
        do_wait(pick_slot(), event);
        break;
    case 1:
        do_event_sync(event);
        break;
    case 2:
        do_event_query(event);
        break;
    default:
        break;
    }
}

#endif
