#include "track/events.h"

#include <stdatomic.h>
#include <stddef.h>

#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/handles.h"
#include "common/library_lock.h"
#include "common/trace.h"
#include "track/events_internal.h"
#include "track/order.h"
#include "track/order_calls.h"

#include "common/poison.h"

/* An event's record. `handle` is the event's handle, with the bit WIDE, which no handle has, if the
 * point says more than a number of its stream. In a record that no event has, `handle` is what the
 * pool keeps there. */
struct record {
    _Atomic uintptr_t handle;
    struct sc_brief_lock lock;
    struct sc_point point;
};

_Static_assert(SC_CHECKS_ON || sizeof(struct record) == 64,
               "no two threads' events share a cache line");

#define WIDE ((uintptr_t)1 << 63)

/* Initialises the records of what events stand for. 0 or -ENOMEM. */
int sc_events_init(struct sc_events *events)
{
    sc_pool_init(&events->records, sizeof(struct record));
    return sc_handles_init(&events->records_of);
}

/* Stores the event's handle, with the bit WIDE if its point (work issued so far) is more than a
 * number of one stream. get_or_set_number compares this one word to know both that the record is
 * the event's and that the point is a mere number. */
static void set_handle(struct record *record, uintptr_t event)
{
    const struct sc_point *point = &record->point;
    bool is_wide = point->joined || point->legacy || point->call || point->legacy_number;
    atomic_store_explicit(&record->handle, event | (is_wide ? WIDE : 0), memory_order_relaxed);
}

/* Finds and locks the event's record; NULL: there is none. The look-up takes no lock, so another
 * thread may give the record to another event before it is locked: the handle is compared
 * afterwards. */
static inline struct record *lock_record(struct sc_events *events, uintptr_t event) SC_UNFOLLOWED
{
    struct record *record = sc_handle_pointer(sc_handles_get(&events->records_of, event));
    if (!record)
        return NULL;
    sc_brief_lock_acquire(&record->lock);
    if ((atomic_load_explicit(&record->handle, memory_order_relaxed) & ~WIDE) == event)
        return record;
    sc_brief_lock_release(&record->lock);
    return NULL;
}

/* Copies the point (work issued so far) under the lock of the event alone. A clock (what was waited
 * for on other streams) in it stays valid for who has the tracker's lock. */
bool sc_events_point(struct sc_events *events, uintptr_t event,
                     struct sc_point *point) SC_UNFOLLOWED
{
    struct record *record = lock_record(events, event);
    *point = record ? record->point : (struct sc_point){0};
    if (record)
        sc_brief_lock_release(&record->lock);
    return record;
}

/* True: the point (work issued so far) has no clock (what was waited for on other streams), so
 * nothing of it is counted under the tracker's lock, and it is the caller's. */
bool sc_events_plain_point(struct sc_events *events, uintptr_t event, struct sc_point *point)
{
    sc_events_point(events, event, point);
    return !point->joined;
}

/* Was `point` taken later than `other` on the same stream? If two threads record the same event on
 * one stream at the same time, it is not known which record the driver handled last. The last one
 * comes after all work that was on the stream when either began. So the event stands for the point
 * that was taken later. */
static bool was_taken_later(const struct sc_point *point, const struct sc_point *other)
{
    if (!point->stream || point->stream != other->stream)
        return false;
    if (point->number != other->number)
        return point->number > other->number;
    return point->legacy_number > other->legacy_number || point->call > other->call;
}

/* Returns the later of the two times of the stream's last work: it is not known which of the
 * records read its time later, and the work counts as before both. A time that is unknown (0) stays
 * unknown: the former record's work may be done, and that of this one still to come. */
static inline uint64_t later_time(const struct sc_point *former, uint32_t stream, uint64_t ticks)
{
    bool is_later = ticks && former->stream == stream && former->work_ticks > ticks;
    return is_later ? former->work_ticks : ticks;
}

/* Stores the point (work issued so far) in the event's record, unless the record has a later point
 * already. The time of the last work is stored in any case (later_time). */
static void store_point(struct record *record, uintptr_t event, const struct sc_point *point)
{
    uint64_t work_ticks = later_time(&record->point, point->stream, point->work_ticks);
    if (!was_taken_later(&record->point, point))
        record->point = *point;
    record->point.work_ticks = work_ticks;
    set_handle(record, event);
}

/* Stores the point (work issued so far) that an event was recorded with, under the event's lock
 * alone. That is not enough for a point with a clock (what was waited for on other streams), new or
 * replaced, since references to clocks are counted under the tracker's lock. */
bool sc_events_set_plain(struct sc_events *events, uintptr_t event,
                         const struct sc_point *point) SC_UNFOLLOWED
{
    struct record *record = point->joined ? NULL : lock_record(events, event);
    if (!record)
        return false;
    bool is_plain = !record->point.joined;
    if (is_plain)
        store_point(record, event, point);
    sc_brief_lock_release(&record->lock);
    return is_plain;
}

/* The end of get_or_set_simple if another thread has begun to wait for the record's lock. A
 * function of its own, so that the usual way saves no registers for it. */
static __attribute__((noinline)) bool wake_and_leave(struct record *record, bool is_done)
{
    sc_brief_lock_wake(&record->lock);
    sc_library_lock_leave();
    return is_done;
}

/* The end of get_or_set_simple if a signal handler, which met the thread in a lock, has left
 * something to be done after it. A function of its own, so that the usual way saves no registers
 * for it. */
static __attribute__((noinline)) bool have_left(bool is_done)
{
    sc_library_lock_run_on_leave();
    return is_done;
}

/* Sets the number that an event stands for, in a point (work issued so far) that says nothing else.
 * Two threads may record the event on one stream at once: the larger number stays. */
static inline void set_plain_number(struct sc_point *point, const struct sc_event_number *number)
{
    point->work_ticks = later_time(point, number->stream, number->work_ticks);
    if (point->stream == number->stream && point->number > number->number)
        return;
    point->stream = number->stream;
    point->number = number->number;
}

/* Gets or sets the number that the event stands for. Returns false if the record is another event's
 * by now, or its point (work issued so far) is more than a number: `handle` has the bit WIDE then,
 * and only the tracker's lock allows a change. */
static inline bool get_or_set_number(struct record *record, uintptr_t event,
                                     struct sc_event_number *number, bool sets)
{
    const struct sc_point *point = &record->point;
    if (__builtin_expect(atomic_load_explicit(&record->handle, memory_order_relaxed) != event, 0))
        return false;
    if (sets)
        set_plain_number(&record->point, number);
    else
        *number = (struct sc_event_number){point->stream, point->number, point->work_ticks};
    return true;
}

/* Reads or sets the event's number under the event's lock, which is taken by one atomic exchange
 * and never waited for. Returns false if the short way is not open: the first guess meets no
 * record, another thread has the lock, or the point (work issued so far) is more than a number. */
static inline __attribute__((always_inline)) bool get_or_set_simple(struct sc_events *events,
                                                                    uintptr_t event,
                                                                    struct sc_event_number *number,
                                                                    bool sets) SC_UNFOLLOWED
{
    struct record *record = sc_handle_pointer(sc_handles_guess(&events->records_of, event));
    if (!record)
        return false;
    sc_library_lock_enter();
    bool is_done = false;
    if (__builtin_expect(sc_brief_lock_grab(&record->lock), 1)) {
        sc_brief_lock_note(&record->lock, true);
        is_done = get_or_set_number(record, event, number, sets);
        if (sc_brief_lock_unlock(&record->lock))
            return wake_and_leave(record, is_done);
    }
    return sc_library_lock_leave_first() ? have_left(is_done) : is_done;
}

/* The short way to set the point (work issued so far) of an event that was recorded on a stream
 * which waits for no other. */
bool sc_events_set_simple(struct sc_events *events, uintptr_t event, uint32_t stream,
                          uint64_t number, uint64_t work_ticks)
{
    struct sc_event_number as = {stream, number, work_ticks};
    return get_or_set_simple(events, event, &as, /*sets=*/true);
}

/* The short way to read the point (work issued so far) of an event. An event without a stream was
 * never recorded. */
bool sc_events_get_simple(struct sc_events *events, uintptr_t event, struct sc_event_number *number)
{
    return get_or_set_simple(events, event, number, /*sets=*/false) && number->stream;
}

/* Gives the record to the event (or to none, with 0), and stores the point (work issued so far),
 * whose reference it takes over. If both points are of the same number, two threads have recorded
 * the event at once, and what either had waited for is joined. The reference of the point that is
 * not kept is released. */
static void reassign_record(struct record *record, struct sc_order *order, uintptr_t event,
                            struct sc_point *point)
{
    sc_brief_lock_acquire(&record->lock);
    const struct sc_point former = record->point;
    bool is_late = was_taken_later(&former, point);
    if (!is_late && point->stream == former.stream && point->number == former.number)
        sc_order_join_other(order, point, &former); /* by their clocks either may be later */
    struct sc_point left = is_late ? *point : former;
    store_point(record, event, point);
    sc_brief_lock_release(&record->lock);
    sc_order_release_point(order, &left);
}

/* Takes an unused record for the event, and makes it known by the handle. Returns NULL if there is
 * no memory. The record's lock is not initialised, since another thread may be about to take it for
 * a former event. */
static struct record *allocate_record(struct sc_events *events, uintptr_t event)
{
    uint32_t id = sc_pool_take_as_is(&events->records);
    struct record *record = id ? sc_pool_at(&events->records, id) : NULL;
    if (record && sc_handles_put(&events->records_of, event, (uintptr_t)record)) {
        sc_pool_release(&events->records, id);
        record = NULL;
    }
    return record;
}

/* Makes a record if the event has none. Without memory the point (work issued so far) is released,
 * and the event stays unknown. */
void sc_events_set(struct sc_events *events, struct sc_order *order, uintptr_t event,
                   struct sc_point *point)
{
    SC_TRACE("event-set event stream number", event, point->stream, point->number);
    struct record *record = sc_handle_pointer(sc_handles_get(&events->records_of, event));
    if (!record)
        record = allocate_record(events, event);
    if (record)
        reassign_record(record, order, event, point);
    else
        sc_order_release_point(order, point);
}

/* Orders the stream's later work after what the event stands for; nothing if the event was never
 * recorded. */
void sc_events_note_wait(struct sc_events *events, struct sc_order *order, uint32_t stream,
                         uintptr_t event)
{
    struct sc_point point;
    if (sc_events_point(events, event, &point))
        sc_order_note_wait(order, stream, &point);
}

/* The event was destroyed, or its record is not known any more. The record is emptied before it may
 * serve another event, since another thread may have found it already. */
void sc_events_forget(struct sc_events *events, struct sc_order *order, uintptr_t event)
{
    SC_TRACE("event-forget event", event);
    struct record *record = sc_handle_pointer(sc_handles_remove(&events->records_of, event));
    if (!record)
        return;
    reassign_record(record, order, 0, &(struct sc_point){0});
    sc_pool_release(&events->records, sc_pool_id_of(&events->records, record));
}
