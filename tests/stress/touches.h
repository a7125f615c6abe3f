/* Steps of the host alone: what it may touch, and has the kernel touch, while copies run beside. */
#ifndef SC_TESTS_STRESS_TOUCHES_H
#define SC_TESTS_STRESS_TOUCHES_H

#include "copies.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

static void rewrite(struct slot *slot)
{
    struct part part = any_part(slot->host.size_bytes);
    make_bytes(slot->host.wanted + part.at, part.size_bytes, random_word());
    memcpy(slot->host.bytes + part.at, slot->host.wanted + part.at, part.size_bytes);
}

static void step_rewrite(void)
{
    struct slot *slot = any_slot();
    host_may_write(&slot->host);
    expect_bytes(slot->host.bytes, slot->host.wanted, slot->host.size_bytes, "before writing");
    rewrite(slot);
}

static void step_read(void)
{
    check_host(any_slot());
}

static void step_read_gaps(void)
{
    unsigned first = (unsigned)below(gap_count);
    for (unsigned i = first; i < gap_count && i < first + 8; i++)
        check_gap(&gaps[i]);
}

/* The bytes of the slot beside those of a copy that is on its way, read and written one by one. */
static void touch_around(struct slot *slot, struct part part, bool reads_all)
{
    struct buffer *host = &slot->host;

    for (unsigned i = 0; i < 4; i++) {
        size_t at = below(host->size_bytes);
        if (at >= part.at && at < part.at + part.size_bytes) {
            if (!reads_all)
                continue;
        } else if (one_in(2)) {
            host->bytes[at] = host->wanted[at] = (unsigned char)below(256);
        }
        if (*(volatile unsigned char *)&host->bytes[at] != host->wanted[at])
            fail("slot %u: a byte at offset %zu of %zu is %02x and not %02x, beside %zu+%zu",
                 slot->number, at, host->size_bytes, host->bytes[at], host->wanted[at], part.at,
                 part.size_bytes);
    }
}

/* A copy of some bytes, touches of others at once, a wait, and everything compared. */
static void step_beside(void)
{
    struct lane *lane = any_lane();
    struct slot *slot = any_slot();
    struct buffer *host = &slot->host, *device = &slot->device;
    bool up = one_in(3);
    unsigned turns = 1 + (unsigned)below(6);

    host_may_write(host);
    for (unsigned i = 0; i < turns; i++) {
        struct part part = {.size_bytes = any_size(host->size_bytes)};
        part.at = below(host->size_bytes - part.size_bytes + 1);
        if (up) {
            lane_may_write(lane, device);
            MUST(cudaMemcpyAsync(device->bytes + part.at, host->bytes + part.at, part.size_bytes,
                                 cudaMemcpyHostToDevice, lane->stream));
            memcpy(device->wanted + part.at, host->wanted + part.at, part.size_bytes);
        } else {
            lane_may_read(lane, device);
            MUST(cudaMemcpyAsync(host->bytes + part.at, device->bytes + part.at, part.size_bytes,
                                 cudaMemcpyDeviceToHost, lane->stream));
            memcpy(host->wanted + part.at, device->wanted + part.at, part.size_bytes);
        }
        lane->issued++;
        if (up)
            lane_writes(lane, device);
        else
            lane_reads(lane, device);
        touch_around(slot, part, up);
        if (one_in(4))
            check_gap(&gaps[below(gap_count)]);
        host_after_lane(lane);
        touch_around(slot, part, true);
    }
    expect_bytes(host->bytes, host->wanted, host->size_bytes, "after a copy");
}

/* A result of some bytes that is waited for and read, and a word of the slot's that is written,
 * again and again, while others do the same on the same page. */
static void step_hot_page(void)
{
    enum { SMALL = 64, RESULT = 8 };
    struct lane *lane = &me->lanes[below(LANES)];
    struct slot *slot = any_slot();
    struct buffer *host = &slot->host, *device = &slot->device;

    for (unsigned tries = 0; tries < 20 && host->size_bytes > SMALL; tries++) {
        slot = any_slot();
        host = &slot->host;
        device = &slot->device;
    }
    if (host->size_bytes <= RESULT || host->pageable)
        return;
    host_may_write(host);
    lane_may_read(lane, device);
    volatile unsigned char *other = host->bytes + host->size_bytes - 1;
    for (size_t turns = 20 + below(100); turns > 0; turns--) {
        MUST(cudaMemcpyAsync(host->bytes, device->bytes, RESULT, cudaMemcpyDeviceToHost,
                             lane->stream));
        MUST(cudaStreamSynchronize(lane->stream));
        if (*(volatile unsigned char *)host->bytes != device->wanted[0])
            fail("slot %u: a result is %02x and not %02x", slot->number, host->bytes[0],
                 device->wanted[0]);
        *other = (unsigned char)turns;
    }
    lane->done = ++lane->issued;
    memcpy(host->wanted, device->wanted, RESULT);
    host->wanted[host->size_bytes - 1] = 1;
    expect_bytes(host->bytes, host->wanted, host->size_bytes, "on a hot page");
}

/* ---- the kernel ---- */

static void transfer(struct slot *from, struct slot *to, int out, int in)
{
    size_t most = lesser(lesser(from->host.size_bytes, to->host.size_bytes), 4000);
    struct part part = any_part(most);
    unsigned char *source = from->host.bytes + part.at, *target = to->host.bytes + part.at;
    size_t half = part.size_bytes / 2;
    struct iovec pieces[2] = {{source, half}, {source + half, part.size_bytes - half}};
    ssize_t sent, got;

    if (out == me->socket[1] && one_in(2))
        sent = send(out, source, part.size_bytes, MSG_NOSIGNAL);
    else if (one_in(2))
        sent = writev(out, pieces, 2);
    else
        sent = write(out, source, part.size_bytes);
    if (sent != (ssize_t)part.size_bytes)
        fail("sent %zd of %zu bytes of slot %u, errno %d", sent, part.size_bytes, from->number,
             errno);
    for (size_t have = 0; have < part.size_bytes; have += (size_t)got) {
        got = in == me->socket[0] && one_in(2) ? recv(in, target + have, part.size_bytes - have, 0)
                                               : read(in, target + have, part.size_bytes - have);
        if (got <= 0)
            fail("got %zd of %zu bytes for slot %u, errno %d", got, part.size_bytes, to->number,
                 errno);
    }
    memmove(to->host.wanted + part.at, from->host.wanted + part.at, part.size_bytes);
}

/* Through a pipe or a socket, straight out of one slot and into another. */
static void step_pipe(void)
{
    struct slot *from = any_slot(), *to = any_slot();
    host_may_read(&from->host);
    host_may_write(&to->host);
    if (one_in(2))
        transfer(from, to, me->pipe[1], me->pipe[0]);
    else
        transfer(from, to, me->socket[1], me->socket[0]);
    check_host(to);
}

/* ---- the heap ---- */

static void step_heap(void)
{
    enum { MOST = 24 };
    unsigned char *kept[MOST], *wanted = memory_of(PAGE_BYTES);
    size_t sizes[MOST];

    make_bytes(wanted, PAGE_BYTES, 7);
    for (unsigned i = 0; i < MOST; i++) {
        sizes[i] = one_in(12) ? 200000 : any_size(PAGE_BYTES);
        kept[i] = memory_of(sizes[i]);
        memcpy(kept[i], wanted, lesser(sizes[i], PAGE_BYTES));
    }
    for (unsigned i = 0; i < MOST; i++) {
        size_t size_bytes = lesser(sizes[i], PAGE_BYTES);
        if (one_in(3)) {
            sizes[i] = any_size(PAGE_BYTES);
            kept[i] = realloc(kept[i], sizes[i]);
            size_bytes = lesser(size_bytes, sizes[i]);
        }
        expect_bytes(kept[i], wanted, size_bytes, "the heap");
    }
    for (unsigned i = 0; i < MOST; i++)
        free(kept[i]);
    free(wanted);
}

/* ---- calls that fail ---- */

static void expect_error(cudaError_t answer, cudaError_t wanted, const char *call)
{
    cudaError_t last = cudaGetLastError();
    if (answer != wanted || last != wanted || cudaGetLastError() != cudaSuccess)
        fail("%s returned %d, then the last error was %d; not %d", call, answer, last, wanted);
}

static void step_errors(void)
{
    struct slot *slot = any_slot();
    int variable;

    cudaGetLastError(); /* a query may have left cudaErrorNotReady */
    switch (below(4)) {
    case 0:
        expect_error(cudaHostUnregister(&variable), cudaErrorHostMemoryNotRegistered,
                     "cudaHostUnregister");
        break;
    case 1:
        expect_error(cudaFreeHost(&variable), cudaErrorInvalidValue, "cudaFreeHost");
        break;
    case 2:
        if (slot->memory == REGISTERED)
            expect_error(cudaHostRegister(slot->host.bytes, 1, cudaHostRegisterDefault),
                         cudaErrorHostMemoryAlreadyRegistered, "cudaHostRegister");
        break;
    default:
        host_may_read(&slot->host);
        errno = 0;
        if (write(-1, slot->host.bytes, 1) != -1 || errno != EBADF)
            fail("write(-1): errno %d", errno);
    }
}

#endif
