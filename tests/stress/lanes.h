/* Order: streams wait for each other, the host waits for streams, and nothing is touched before. */
#ifndef SC_TESTS_STRESS_LANES_H
#define SC_TESTS_STRESS_LANES_H

#include "stress.h"

static bool is_done(const struct point *point)
{
    return !point->event && (!point->lane || point->number <= point->lane->done);
}

static struct lane *on_lane(struct lane *lane)
{
    on_device(lane->device);
    return lane;
}

static struct lane *any_lane(void)
{
    return on_lane(&me->lanes[below(LANES)]);
}

static struct point point_on(struct lane *lane)
{
    return (struct point){.lane = lane, .number = ++lane->issued};
}

/* What is issued on the lane next comes after the point. The lane's device is current behind it. */
static void lane_after(struct lane *lane, const struct point *point)
{
    cudaEvent_t event = is_done(point) || point->lane == lane ? NULL : point->event;

    if (!is_done(point) && point->lane && point->lane != lane) {
        event = point->lane->event;
        on_lane(point->lane);
        MUST(cudaEventRecord(event, point->lane->stream));
    }
    on_lane(lane);
    if (event)
        MUST(cudaStreamWaitEvent(lane->stream, event, 0));
}

static void CUDART_CB post_told(void *worker)
{
    sem_post(((struct worker *)worker)->told);
}

static void poll_event(cudaEvent_t event)
{
    cudaError_t answer;
    while ((answer = cudaEventQuery(event)) == cudaErrorNotReady)
        sched_yield();
    MUST(answer);
}

/* The driver refuses to wait for a context in which a stream captures, whatever the capture's mode.
 * Who begins a capture has the lock shared. */
static pthread_rwlock_t *captures;

static void synchronize_device(void)
{
    MUST(pthread_rwlock_wrlock(captures));
    MUST(cudaDeviceSynchronize());
    MUST(pthread_rwlock_unlock(captures));
}

/* A copy to the device returns when its pageable source was read, and a memset at once: streams
 * that do not wait for the legacy stream may not use the device's bytes before this. */
static void finish_synchronous(void)
{
    if (one_in(4))
        synchronize_device();
    else
        MUST(cudaStreamSynchronize(cudaStreamLegacy));
}

/* The host waits for all that was issued on the lane, in one of many ways. The current device
 * stays.
 */
static void host_after_lane(struct lane *lane)
{
    cudaError_t answer;
    int before = here;

    on_lane(lane);

    switch (below(8)) {
    case 0:
        MUST(cudaEventRecord(lane->event, lane->stream));
        MUST(cudaEventSynchronize(lane->event));
        break;
    case 1:
        MUST(cudaEventRecord(lane->event, lane->stream));
        poll_event(lane->event);
        break;
    case 2:
        while ((answer = cudaStreamQuery(lane->stream)) == cudaErrorNotReady)
            sched_yield();
        MUST(answer);
        break;
    case 3:
        MUST(cudaLaunchHostFunc(lane->stream, post_told, me));
        while (sem_wait(me->told) != 0)
            if (errno != EINTR)
                fail("sem_wait: errno %d", errno);
        break;
    case 4:
        if (one_in(4)) {
            synchronize_device();
            for (unsigned i = 0; i < LANES; i++)
                if (me->lanes[i].device == here)
                    me->lanes[i].done = me->lanes[i].issued;
            break;
        } /* fall through */
    default:
        MUST(cudaStreamSynchronize(lane->stream));
    }
    lane->done = lane->issued;
    on_device(before);
}

static void host_after(struct point *point)
{
    if (is_done(point))
        return;
    if (!point->event) {
        host_after_lane(point->lane);
        return;
    }
    if (one_in(2))
        MUST(cudaEventSynchronize(point->event));
    else
        poll_event(point->event);
    *point = (struct point){0};
}

/* ---- buffers ---- */

static void host_may_read(struct buffer *buffer)
{
    host_after(&buffer->writer);
}

static void host_may_write(struct buffer *buffer)
{
    host_after(&buffer->writer);
    for (unsigned i = 0; i < READERS; i++)
        host_after(&buffer->readers[i]);
}

static bool is_quiet(const struct buffer *buffer)
{
    bool quiet = is_done(&buffer->writer);
    for (unsigned i = 0; i < READERS; i++)
        quiet = quiet && is_done(&buffer->readers[i]);
    return quiet;
}

/* Before something is issued that reads or writes the buffer. The driver reads and writes pageable
 * memory within the call, so nothing may be under way there. */
static void lane_may_read(struct lane *lane, struct buffer *buffer)
{
    if (buffer->pageable)
        host_may_read(buffer);
    lane_after(lane, &buffer->writer);
}

static void lane_may_write(struct lane *lane, struct buffer *buffer)
{
    if (buffer->pageable)
        host_may_write(buffer);
    lane_after(lane, &buffer->writer);
    for (unsigned i = 0; i < READERS; i++)
        lane_after(lane, &buffer->readers[i]);
}

/* And when it was issued. */
static void lane_reads(struct lane *lane, struct buffer *buffer)
{
    struct point *free_one = NULL;

    if (buffer->pageable)
        return;
    for (unsigned i = 0; i < READERS; i++) {
        struct point *reader = &buffer->readers[i];
        if (reader->lane == lane || is_done(reader))
            free_one = reader;
    }
    if (!free_one) { /* one more than there is room for: the host waits for one of them */
        free_one = &buffer->readers[below(READERS)];
        host_after(free_one);
    }
    *free_one = (struct point){.lane = lane, .number = lane->issued};
}

static void lane_writes(struct lane *lane, struct buffer *buffer)
{
    if (buffer->pageable)
        return;
    buffer->writer = (struct point){.lane = lane, .number = lane->issued};
    memset(buffer->readers, 0, sizeof buffer->readers);
}

/* The host looks at all of the buffer. */
static void check_host(struct slot *slot)
{
    host_may_read(&slot->host);
    expect_bytes(slot->host.bytes, slot->host.wanted, slot->host.size_bytes, "host bytes");
}

/* What is on the device, by a copy that waits. */
static void check_device(struct slot *slot)
{
    struct buffer *device = &slot->device;
    unsigned char *image = memory_of(device->size_bytes);

    host_may_read(device);
    on_device(slot->home);
    MUST(cudaMemcpy(image, device->bytes, device->size_bytes, cudaMemcpyDeviceToHost));
    expect_bytes(image, device->wanted, device->size_bytes, "device bytes");
    free(image);
}

static void check_slot(struct slot *slot)
{
    check_host(slot);
    check_device(slot);
}

static void make_lanes(void)
{
    for (unsigned i = 0; i < LANES; i++) {
        struct lane *lane = &me->lanes[i];
        lane->device = (int)(me->number + i) % device_count;
        on_lane(lane);
        MUST(cudaEventCreateWithFlags(&lane->event,
                                      i % 2 ? cudaEventDisableTiming : cudaEventBlockingSync));
        lane->captures = i < 2;
    }
    on_lane(&me->lanes[0]);
    MUST(cudaStreamCreateWithFlags(&me->lanes[0].stream, cudaStreamNonBlocking));
    on_lane(&me->lanes[1]);
    MUST(cudaStreamCreateWithPriority(&me->lanes[1].stream, cudaStreamNonBlocking, 0));
    on_lane(&me->lanes[2]);
    MUST(cudaStreamCreate(&me->lanes[2].stream));
    me->lanes[3].stream = cudaStreamPerThread;
    me->lanes[4].stream = cudaStreamLegacy;
    on_lane(&me->lanes[4]);
    if (me->number % 4)
        MUST(cudaStreamCreateWithFlags(&me->lanes[4].stream, cudaStreamNonBlocking));
}

/* A lane whose stream is another one from now on. */
static void renew_lane(void)
{
    struct lane *lane = &me->lanes[below(3)];
    bool blocking = lane == &me->lanes[2];

    host_after_lane(lane);
    on_lane(lane);
    MUST(cudaStreamDestroy(lane->stream));
    MUST(cudaStreamCreateWithFlags(&lane->stream,
                                   blocking ? cudaStreamDefault : cudaStreamNonBlocking));
    MUST(cudaEventDestroy(lane->event));
    MUST(cudaEventCreateWithFlags(&lane->event, cudaEventDisableTiming));
}

static void end_lanes(void)
{
    for (unsigned i = 0; i < LANES; i++) {
        struct lane *lane = on_lane(&me->lanes[i]);
        MUST(cudaStreamSynchronize(lane->stream));
        lane->done = lane->issued;
        if (i != 3 && lane->stream != cudaStreamLegacy)
            MUST(cudaStreamDestroy(lane->stream));
        MUST(cudaEventDestroy(lane->event));
    }
}

#endif
