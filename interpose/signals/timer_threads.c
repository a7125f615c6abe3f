#include "interpose/signals/timer_threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/own_pages.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"

#include "common/poison.h"

enum { BUCKETS = 256, CHUNK_BYTES = 64 << 10 };

typedef void notify_function(union sigval value);

/* What the program wants to be called on a timer's thread. A thread of a deleted timer may still be
 * about to begin, so a record is kept for ever. It serves all events that are alike. */
struct notified {
    notify_function *function;
    union sigval value;
    struct notified *next;
};

/* Records are taken from a chunk, one after the other. */
struct chunk {
    _Atomic unsigned taken;
    struct notified records[(CHUNK_BYTES - sizeof(unsigned)) / sizeof(struct notified) - 1];
};

static _Atomic(struct chunk *) latest_chunk;
static _Atomic(struct notified *) buckets[BUCKETS]; /* lists of records, by what they are for */

/* The function that the C library calls on a timer's thread in place of the program's, which it
 * calls in turn. The C library starts such threads with all signals blocked: SIGSEGV is unblocked,
 * and the program believes it blocked. */
static void begin_thread(union sigval value)
{
    const struct notified *notified = value.sival_ptr;
    if (sc_sharing_is_on())
        sc_signal_mask_begin();
    notified->function(notified->value);
}

/* Allocates a record, which is never freed: a timer's thread may begin after the timer is gone.
 * NULL: there is no memory. If two threads map a new chunk at once, one of the two is unmapped
 * again. */
static struct notified *new_record(void)
{
    const unsigned most = sizeof latest_chunk->records / sizeof *latest_chunk->records;
    for (;;) {
        struct chunk *chunk = atomic_load(&latest_chunk);
        unsigned at = chunk ? atomic_fetch_add(&chunk->taken, 1) : most;
        if (at < most)
            return &chunk->records[at];
        struct chunk *fresh = sc_pages_map(sizeof *fresh);
        if (!fresh)
            return NULL;
        if (!atomic_compare_exchange_strong(&latest_chunk, &chunk, fresh))
            sc_pages_unmap(fresh, sizeof *fresh);
    }
}

/* Returns the list of records in which the one for this event would be. */
static _Atomic(struct notified *) *bucket_of(const struct sigevent *event)
{
    uint64_t key =
        (uintptr_t)event->sigev_notify_function * 31 + (uintptr_t)event->sigev_value.sival_ptr;
    return &buckets[key * 0x9e3779b97f4a7c15u >> 56];
}

/* Has the record the event's function and value? Then it serves this event, too. */
static bool is_for(const struct notified *notified, const struct sigevent *event)
{
    return notified->function == event->sigev_notify_function &&
           notified->value.sival_ptr == event->sigev_value.sival_ptr;
}

/* Finds or adds the record of what the program wants to be called for the event. NULL: there is no
 * memory. Two threads may add the same at once, which is harmless. */
static struct notified *record_of(const struct sigevent *event)
{
    _Atomic(struct notified *) *bucket = bucket_of(event);
    struct notified *first = atomic_load(bucket);
    for (struct notified *notified = first; notified; notified = notified->next)
        if (is_for(notified, event))
            return notified;
    struct notified *added = new_record();
    if (!added)
        return NULL;
    *added = (struct notified){event->sigev_notify_function, event->sigev_value, first};
    while (!atomic_compare_exchange_weak(bucket, &added->next, added))
        continue;
    return added;
}

/* Returns the event to pass to the C library: the program's, or a copy in `room` whose thread
 * begins in the library's function, which unblocks SIGSEGV and calls the program's. Only for events
 * that request a thread (SIGEV_THREAD), and not if signals are never shared or memory is used up.
 */
struct sigevent *sc_timer_threads_wrap_event(const struct sigevent *event, struct sigevent *room)
{
    struct sigevent *asked = (struct sigevent *)(uintptr_t)event;
    if (!event || event->sigev_notify != SIGEV_THREAD || !sc_sharing_is_wanted())
        return asked;
    struct notified *notified = record_of(event);
    if (!notified)
        return asked;
    *room = *event;
    room->sigev_notify_function = begin_thread;
    room->sigev_value.sival_ptr = notified;
    return room;
}
