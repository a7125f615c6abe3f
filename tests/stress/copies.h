/* Steps that give the device something to do. */
#ifndef SC_TESTS_STRESS_COPIES_H
#define SC_TESTS_STRESS_COPIES_H

#include "world.h"

static struct slot *any_slot(void)
{
    if (one_in(5)) {
        struct block *block = &me->blocks[below(BLOCKS)];
        if (block->slot.host.bytes)
            return &block->slot;
    }
    return me->slots[below(me->owned)];
}

/* A part of a buffer of so many bytes. */
struct part {
    size_t at, size_bytes;
};

static struct part any_part(size_t most)
{
    struct part part = {.size_bytes = one_in(3) ? most : any_size(most)};
    part.at = below(most - part.size_bytes + 1);
    return part;
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void copy_up(struct lane *lane, struct slot *from, struct slot *to)
{
    struct part part = any_part(lesser(from->host.size_bytes, to->device.size_bytes));
    size_t there = below(to->device.size_bytes - part.size_bytes + 1);

    lane_may_read(lane, &from->host);
    lane_may_write(lane, &to->device);
    MUST(cudaMemcpyAsync(to->device.bytes + there, from->host.bytes + part.at, part.size_bytes,
                         one_in(2) ? cudaMemcpyHostToDevice : cudaMemcpyDefault, lane->stream));
    lane->issued++;
    lane_reads(lane, &from->host);
    lane_writes(lane, &to->device);
    memcpy(to->device.wanted + there, from->host.wanted + part.at, part.size_bytes);
}

static void copy_down(struct lane *lane, struct slot *from, struct slot *to)
{
    struct part part = any_part(lesser(to->host.size_bytes, from->device.size_bytes));
    size_t there = below(from->device.size_bytes - part.size_bytes + 1);

    lane_may_read(lane, &from->device);
    lane_may_write(lane, &to->host);
    MUST(cudaMemcpyAsync(to->host.bytes + part.at, from->device.bytes + there, part.size_bytes,
                         one_in(2) ? cudaMemcpyDeviceToHost : cudaMemcpyDefault, lane->stream));
    lane->issued++;
    lane_reads(lane, &from->device);
    lane_writes(lane, &to->host);
    memcpy(to->host.wanted + part.at, from->device.wanted + there, part.size_bytes);
}

static void step_copy_up(void)
{
    copy_up(any_lane(), any_slot(), any_slot());
}

static void step_copy_down(void)
{
    copy_down(any_lane(), any_slot(), any_slot());
}

static void step_round_trip(void)
{
    struct lane *lane = any_lane();
    struct slot *slot = any_slot();
    copy_up(lane, slot, slot);
    copy_down(lane, slot, any_slot());
}

static void step_device_copy(void)
{
    struct lane *lane = any_lane();
    struct slot *from = any_slot(), *to = any_slot();
    size_t size_bytes = any_part(lesser(from->device.size_bytes, to->device.size_bytes)).size_bytes;

    if (from == to)
        return;
    lane_may_read(lane, &from->device);
    lane_may_write(lane, &to->device);
    MUST(cudaMemcpyAsync(to->device.bytes, from->device.bytes, size_bytes, cudaMemcpyDeviceToDevice,
                         lane->stream));
    lane->issued++;
    lane_reads(lane, &from->device);
    lane_writes(lane, &to->device);
    memcpy(to->device.wanted, from->device.wanted, size_bytes);
}

/* The host's bytes too, where the device can. */
static void step_memset(void)
{
    struct lane *lane = any_lane();
    struct slot *slot = any_slot();
    bool elsewhere = slot->home != lane->device; /* a device may not fill another one's memory */
    bool on_host = (elsewhere || one_in(2)) && !slot->host.pageable;
    struct buffer *buffer = on_host ? &slot->host : &slot->device;
    struct part part = any_part(buffer->size_bytes);
    unsigned char value = (unsigned char)below(256);

    if (elsewhere && !on_host)
        return;
    lane_may_write(lane, buffer);
    MUST(cudaMemsetAsync(buffer->bytes + part.at, value, part.size_bytes, lane->stream));
    lane->issued++;
    lane_writes(lane, buffer);
    memset(buffer->wanted + part.at, value, part.size_bytes);
}

/* Rows of a buffer. */
struct rows {
    size_t at, pitch;
};

static struct rows any_rows(size_t size_bytes, size_t width, size_t height)
{
    size_t most = height > 1 ? (size_bytes - width) / (height - 1) : size_bytes;
    struct rows rows = {.pitch = width + below(most - width + 1)};
    if (rows.pitch > width + 300)
        rows.pitch = width + below(300);
    rows.at = below(size_bytes - (rows.pitch * (height - 1) + width) + 1);
    return rows;
}

/* Down, the host touches the bytes between the rows meanwhile. */
static void step_rectangle(void)
{
    struct lane *lane = any_lane();
    struct slot *slot = any_slot();
    size_t height = 1 + below(6);
    size_t width = slot->host.size_bytes / height;
    bool up = one_in(2);
    struct buffer *from = up ? &slot->host : &slot->device;
    struct buffer *to = up ? &slot->device : &slot->host;

    if (width == 0)
        return;
    width = any_size(width);
    struct rows source = any_rows(from->size_bytes, width, height);
    struct rows target = any_rows(to->size_bytes, width, height);
    if (!up)
        host_may_write(&slot->host);
    lane_may_read(lane, from);
    lane_may_write(lane, to);
    MUST(cudaMemcpy2DAsync(to->bytes + target.at, target.pitch, from->bytes + source.at,
                           source.pitch, width, height,
                           up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, lane->stream));
    lane->issued++;
    for (size_t row = 0; row < height; row++)
        memcpy(to->wanted + target.at + row * target.pitch,
               from->wanted + source.at + row * source.pitch, width);
    if (!up && target.pitch > width && one_in(2))
        for (size_t row = 0; row + 1 < height; row++) {
            size_t between = target.at + row * target.pitch + width;
            expect_bytes(to->bytes + between, to->wanted + between, target.pitch - width,
                         "between the rows");
            to->bytes[between] = to->wanted[between] = (unsigned char)below(256);
        }
    lane_reads(lane, from);
    lane_writes(lane, to);
}

/* One batch of copies that have nothing to do with one another. */
static void step_batch(void)
{
    enum { MOST = 6 };
    struct lane *lane = &me->lanes[below(3)]; /* the legacy stream takes no batches */
    struct slot *chosen[MOST];
    void *targets[MOST];
    const void *sources[MOST];
    size_t sizes[MOST], first = 0;
    bool up[MOST];
    unsigned count = 0;

    for (unsigned i = 0; i < MOST; i++) {
        struct slot *slot = any_slot();
        bool again = slot->host.pageable;
        for (unsigned j = 0; j < count; j++)
            again = again || chosen[j] == slot;
        if (again)
            continue;
        chosen[count] = slot;
        up[count] = one_in(2);
        struct buffer *from = up[count] ? &slot->host : &slot->device;
        struct buffer *to = up[count] ? &slot->device : &slot->host;
        struct part part = any_part(slot->host.size_bytes);
        lane_may_read(lane, from);
        lane_may_write(lane, to);
        targets[count] = to->bytes + part.at;
        sources[count] = from->bytes + part.at;
        sizes[count] = part.size_bytes;
        memcpy(to->wanted + part.at, from->wanted + part.at, part.size_bytes);
        count++;
    }
    if (count == 0)
        return;
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    MUST(cudaMemcpyBatchAsync(targets, sources, sizes, count, &order, &first, 1, lane->stream));
    lane->issued++;
    for (unsigned i = 0; i < count; i++) {
        lane_reads(lane, up[i] ? &chosen[i]->host : &chosen[i]->device);
        lane_writes(lane, up[i] ? &chosen[i]->device : &chosen[i]->host);
    }
}

/* Copies and memsets that wait. */
static void step_synchronous(void)
{
    struct slot *slot = any_slot();
    struct part part = any_part(slot->host.size_bytes);
    unsigned char *host = slot->host.bytes + part.at, *device = slot->device.bytes + part.at;

    host_may_write(&slot->device);
    on_device(slot->home);
    switch (below(4)) {
    case 0:
        host_may_read(&slot->host);
        MUST(cudaMemcpy(device, host, part.size_bytes, cudaMemcpyHostToDevice));
        finish_synchronous();
        memcpy(slot->device.wanted + part.at, slot->host.wanted + part.at, part.size_bytes);
        break;
    case 1:
        host_may_write(&slot->host);
        MUST(cudaMemcpy(host, device, part.size_bytes, cudaMemcpyDeviceToHost));
        memcpy(slot->host.wanted + part.at, slot->device.wanted + part.at, part.size_bytes);
        break;
    case 2:
        MUST(cudaMemset(device, 0x5a, part.size_bytes));
        finish_synchronous();
        memset(slot->device.wanted + part.at, 0x5a, part.size_bytes);
        break;
    default:
        check_device(slot);
    }
}

/* Device memory that lives in a stream alone. The wait is for the simulated GPU, which hands a
 * block that was freed to anybody at once (tests/sim/README.md). */
static void step_stream_memory(void)
{
    struct lane *lane = any_lane();
    struct slot *from = any_slot(), *to = any_slot();
    struct part part = any_part(lesser(from->host.size_bytes, to->host.size_bytes));
    void *between = NULL;

    if (from == to || from->host.pageable || to->host.pageable)
        return;
    lane_may_read(lane, &from->host);
    lane_may_write(lane, &to->host);
    MUST(cudaMallocAsync(&between, part.size_bytes, lane->stream));
    MUST(cudaMemcpyAsync(between, from->host.bytes + part.at, part.size_bytes,
                         cudaMemcpyHostToDevice, lane->stream));
    lane->issued++;
    lane_reads(lane, &from->host);
    MUST(cudaMemcpyAsync(to->host.bytes + part.at, between, part.size_bytes, cudaMemcpyDeviceToHost,
                         lane->stream));
    lane->issued++;
    lane_writes(lane, &to->host);
    host_after_lane(lane);
    MUST(cudaFreeAsync(between, lane->stream));
    memcpy(to->host.wanted + part.at, from->host.wanted + part.at, part.size_bytes);
}

/* ---- host functions ---- */

struct errand {
    struct slot *slot;
    unsigned char *bytes;
    size_t size_bytes;
    uint64_t found; /* the digest of what has to be there */
    uint64_t key;   /* what is there afterwards; 0: the same */
};

static void CUDART_CB run_errand(void *given)
{
    struct errand *errand = given;

    if (digest_of(errand->bytes, errand->size_bytes) != errand->found)
        fail("a host function found wrong bytes in slot %u", errand->slot->number);
    if (errand->key)
        make_bytes(errand->bytes, errand->size_bytes, errand->key);
    free(errand);
}

static void host_function(struct lane *lane, struct slot *slot)
{
    struct part part = any_part(slot->host.size_bytes);
    struct errand *errand = memory_of(sizeof *errand);
    unsigned char *wanted = slot->host.wanted + part.at;

    if (slot->host.pageable)
        host_may_write(&slot->host);
    *errand = (struct errand){.slot = slot,
                              .bytes = slot->host.bytes + part.at,
                              .size_bytes = part.size_bytes,
                              .found = digest_of(wanted, part.size_bytes),
                              .key = one_in(3) ? 0 : random_word() | 1};
    if (errand->key)
        lane_may_write(lane, &slot->host);
    else
        lane_may_read(lane, &slot->host);
    bool writes = errand->key != 0;
    if (writes)
        make_bytes(wanted, part.size_bytes, errand->key);
    MUST(cudaLaunchHostFunc(lane->stream, run_errand, errand));
    lane->issued++;
    if (slot->host.pageable)
        host_after_lane(lane);
    if (writes)
        lane_writes(lane, &slot->host);
    else
        lane_reads(lane, &slot->host);
}

/* Down, looked at and changed by the host, and up again, with no wait in between. */
static void step_host_function(void)
{
    struct lane *lane = any_lane();
    struct slot *slot = any_slot();

    if (one_in(2) && !slot->host.pageable)
        copy_down(lane, slot, slot);
    host_function(lane, slot);
    if (one_in(2) && !slot->host.pageable)
        copy_up(one_in(3) ? any_lane() : lane, slot, slot);
}

/* ---- waits ---- */

static void step_wait(void)
{
    struct lane *lane = any_lane();
    if (lane->done != lane->issued)
        host_after_lane(lane);
    check_slot(any_slot());
}

static void step_renew_lane(void)
{
    if (one_in(4))
        renew_lane();
}

#endif
