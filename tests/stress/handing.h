/* Slots change hands, with or without what is in flight on them. */
#ifndef SC_TESTS_STRESS_HANDING_H
#define SC_TESTS_STRESS_HANDING_H

#include "blocks.h"

/* One event stands for all that is in flight on the slot. */
static void gather(struct slot *slot)
{
    struct buffer *both[] = {&slot->host, &slot->device};
    struct lane *lane = any_lane();
    struct point behind = {0};

    if (is_quiet(both[0]) && is_quiet(both[1]))
        return;
    for (unsigned i = 0; i < 2; i++)
        lane_may_write(lane, both[i]);
    behind.event = slot->events[lane->device];
    MUST(cudaEventRecord(behind.event, lane->stream));
    for (unsigned i = 0; i < 2; i++) {
        memset(both[i]->readers, 0, sizeof both[i]->readers);
        both[i]->writer = behind;
    }
    if (slot->host.pageable)
        slot->host.writer = (struct point){0};
}

static struct box *lock_any_box(void)
{
    struct box *box = boxes[below(BOXES)];
    MUST(pthread_mutex_lock(&box->mutex));
    return box;
}

/* One of ours for what lies in a box; or nothing for it, and nothing of ours into an empty one. */
static void step_hand(void)
{
    unsigned which = (unsigned)below(me->owned);
    struct slot *ours = me->slots[which];

    if (ours->named)
        return;
    gather(ours);
    struct box *box = lock_any_box();
    if (!box->slot && one_in(4)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 500000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        int answer = pthread_cond_timedwait(&box->changed, &box->mutex, &until);
        if (answer != 0 && answer != ETIMEDOUT)
            fail("pthread_cond_timedwait returned %d", answer);
    }
    struct slot *theirs = box->slot;
    if (theirs || me->owned > 8) {
        box->slot = ours;
        me->slots[which] = theirs ? theirs : me->slots[--me->owned];
    }
    MUST(pthread_cond_broadcast(&box->changed));
    MUST(pthread_mutex_unlock(&box->mutex));
    if (theirs && one_in(2))
        check_slot(theirs);
}

static void step_take(void)
{
    struct box *box = lock_any_box();
    struct slot *taken = me->owned < OWNED_MAX ? box->slot : NULL;

    if (taken) {
        box->slot = NULL;
        me->slots[me->owned++] = taken;
    }
    MUST(pthread_mutex_unlock(&box->mutex));
    if (!taken)
        return;
    host_may_write(&taken->host);
    rewrite(taken);
}

/* ---- a thread for one slot ---- */

static void *work_alone(void *given)
{
    struct slot *slot = given;
    struct buffer *host = &slot->host;

    for (unsigned i = 0; i < 3; i++) {
        MUST(cudaMemcpyAsync(slot->device.bytes, host->bytes, host->size_bytes,
                             cudaMemcpyHostToDevice, cudaStreamPerThread));
        MUST(cudaStreamSynchronize(cudaStreamPerThread));
        host->bytes[0]++;
        MUST(cudaMemcpyAsync(host->bytes, slot->device.bytes, host->size_bytes,
                             cudaMemcpyDeviceToHost, cudaStreamPerThread));
        MUST(cudaStreamSynchronize(cudaStreamPerThread));
        expect_bytes(host->bytes, host->wanted, host->size_bytes, "in a thread of its own");
    }
    return given;
}

static void step_thread(void)
{
    struct slot *slot = any_slot();
    pthread_t thread;
    void *answer;

    host_may_write(&slot->host);
    host_may_write(&slot->device);
    MUST(pthread_create(&thread, NULL, work_alone, slot));
    MUST(pthread_join(thread, &answer));
    memcpy(slot->device.wanted, slot->host.wanted, slot->host.size_bytes);
    if (answer != slot)
        fail("pthread_join gave something else");
}

/* ---- a thread that is taken out of what it does ---- */

struct harmless {
    struct slot *slot;
    atomic_bool runs;
};

static void *compute(void *given)
{
    struct harmless *work = given;
    volatile unsigned char *bytes = work->slot->host.bytes;
    int kind;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &kind);
    atomic_store(&work->runs, true);
    for (;;)
        bytes[0]++;
    return NULL;
}

static void step_cancel(void)
{
    struct slot *slot = any_slot();
    struct harmless work = {.slot = slot};
    pthread_t thread;
    void *answer;

    host_may_write(&slot->host);
    MUST(pthread_create(&thread, NULL, compute, &work));
    while (!atomic_load(&work.runs))
        sched_yield();
    for (unsigned i = 0; i < 4; i++) { /* beside */
        struct slot *other = any_slot();
        if (other != slot)
            copy_down(any_lane(), other, other);
    }
    MUST(pthread_cancel(thread));
    MUST(pthread_join(thread, &answer));
    if (answer != PTHREAD_CANCELED)
        fail("a cancelled thread returned");
    slot->host.bytes[0] = slot->host.wanted[0];
    check_host(slot);
}

#endif
