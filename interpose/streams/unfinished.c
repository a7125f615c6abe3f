#include "interpose/streams/unfinished.h"

#include "common/mutex.h"
#include "common/points.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/streams.h"
#include "track/stream_front.h"
#include "track/track_streams.h"

#include "common/poison.h"

static uint64_t get(const _Atomic uint64_t *ticks)
{
    return atomic_load_explicit(ticks, memory_order_relaxed);
}

static void set(_Atomic uint64_t *ticks, uint64_t value)
{
    atomic_store_explicit(ticks, value, memory_order_relaxed);
}

/* Raises the time to at least this one. Threads may come here in another order than their times
 * were taken, so the latest one counts. */
static void raise_to(_Atomic uint64_t *ticks, uint64_t at_least)
{
    uint64_t now = get(ticks);
    while (now < at_least && !atomic_compare_exchange_weak_explicit(
                                 ticks, &now, at_least, memory_order_relaxed, memory_order_relaxed))
        ;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Belongs the stream to its context's family: the legacy stream and the blocking streams, which
 * wait for each other? */
static bool is_in_family(const struct sc_stream_record *stream)
{
    return stream->kind != SC_STREAM_NONBLOCKING;
}

static _Atomic bool host_work_was_ever;

/* Has no stream of the process had work that may be a host function? Then the times of such work
 * need not be kept. */
static bool no_host_work_ever(void)
{
    return !atomic_load_explicit(&host_work_was_ever, memory_order_relaxed);
}

/* Called when a record gets a new stream: sets the times by which it is known what work may be
 * unfinished. What the context was told to wait for may be. The times of the new stream are later
 * than all of the one that had the record before, whose events may still be asked about. */
void sc_unfinished_renew(struct sc_stream_record *stream)
{
    uint64_t gate_ticks = sc_unfinished_gate_ticks(stream->context), now = sc_ticks_not_early();
    stream->unfinished = (struct sc_unfinished){
        .own_ticks = gate_ticks,
        .own_host_ticks = no_host_work_ever() ? 0 : gate_ticks,
        .since_ticks = now,
        .asked_ticks = now + 1,
    };
    if (stream->kind == SC_STREAM_LEGACY)
        stream->context->unfinished.family = stream->unfinished;
}

/* Returns when the context, or a green context's primary one, was last told to wait for an event:
 * all its streams come after that. */
uint64_t sc_unfinished_gate_ticks(struct sc_context *context)
{
    uint64_t own = get(&context->unfinished.waits_ticks);
    return context->primary ? later(own, get(&context->primary->unfinished.waits_ticks)) : own;
}

/* Returns a time behind all waits of the host for the stream that have begun, and behind what its
 * context was told to wait for. Work gets a later time than this, so that such a wait does not seem
 * to cover it. Threads note their waits before they call the driver. */
SC_INLINED uint64_t behind_waits(const struct sc_stream_record *stream)
{
    struct sc_context *context = stream->context;
    atomic_thread_fence(memory_order_acquire); /* after what the driver has just done */
    uint64_t asked =
        later(get(&stream->unfinished.asked_ticks), get(&context->unfinished.asked_ticks));
    if (sc_unlikely(context->primary != NULL))
        asked = later(asked, get(&context->primary->unfinished.asked_ticks));
    return asked;
}

/* Returns a new time, later than all times of the family (the legacy stream and the blocking
 * streams of a context), in which each later work has to have the later time, and no earlier than
 * `at_least`. The clock is not read, which takes longer. */
static uint64_t next_of_family(struct sc_stream_record *stream, uint64_t at_least)
{
    _Atomic uint64_t *latest = &stream->context->unfinished.latest_ticks;
    uint64_t least = later(behind_waits(stream) + 1, at_least), before = get(latest), now;
    do
        now = later(least, before + 1);
    while (!atomic_compare_exchange_weak_explicit(latest, &before, now, memory_order_relaxed,
                                                  memory_order_relaxed));
    return now;
}

/* Returns the next time for work on a non-blocking stream, and notes it: later than all the
 * stream's own times. So an event comes after the work before it, and before the work after it. */
SC_INLINED uint64_t next_own(struct sc_stream_record *stream, uint64_t at_least)
{
    struct sc_unfinished *unfinished = &stream->unfinished;
    uint64_t least = later(behind_waits(stream), at_least), own = get(&unfinished->own_ticks), now;
    do
        now = later(least, later(own, get(&unfinished->joined_ticks)) + 1);
    while (!atomic_compare_exchange_weak_explicit(&unfinished->own_ticks, &own, now,
                                                  memory_order_relaxed, memory_order_relaxed));
    return now;
}

/* Reads the time from the clock, for work that is compared with the times of copies: only host
 * functions are. It is later than all of the stream's times. */
static uint64_t read_clock(struct sc_stream_record *stream)
{
    uint64_t own = later(get(&stream->unfinished.own_ticks), get(&stream->unfinished.joined_ticks));
    uint64_t now = later(sc_ticks_not_early(), own + 1);
    if (is_in_family(stream))
        raise_to(&stream->context->unfinished.latest_ticks, now);
    return now;
}

/* Notes work that is issued on the stream at this time; for the legacy and blocking streams of the
 * context together (the family), too, if it is one of them. `is_own`: it counts as the stream's own
 * work; else it is another stream's, which this one was told to wait for. */
SC_INLINED uint64_t note_work_at(struct sc_stream_record *stream, uint64_t now, bool is_own)
{
    struct sc_unfinished *unfinished = &stream->unfinished;
    raise_to(is_own ? &unfinished->own_ticks : &unfinished->joined_ticks, now);
    if (is_in_family(stream))
        raise_to(&stream->context->unfinished.family.own_ticks, now);
    if (stream->kind == SC_STREAM_LEGACY)
        raise_to(&stream->context->unfinished.legacy_ticks, now);
    return now;
}

/* Notes that the work issued at this time may be a host function, which may write pageable memory;
 * kernels mostly may not. */
static void note_host_work(struct sc_stream_record *stream, uint64_t now, bool is_own)
{
    struct sc_unfinished *unfinished = &stream->unfinished;
    if (no_host_work_ever()) /* all threads read the flag, so it is written only once */
        atomic_store_explicit(&host_work_was_ever, true, memory_order_relaxed);
    raise_to(is_own ? &unfinished->own_host_ticks : &unfinished->joined_host_ticks, now);
    if (is_in_family(stream))
        raise_to(&stream->context->unfinished.family.own_host_ticks, now);
}

uint64_t sc_unfinished_simple_work(struct sc_stream_record *stream, uint64_t at_least)
{
    return next_own(stream, at_least);
}

/* Notes work on the stream that may write host memory, and returns its time. */
uint64_t sc_unfinished_work(struct sc_stream_record *stream, uint64_t at_least)
{
    return is_in_family(stream)
               ? note_work_at(stream, next_of_family(stream, at_least), /*is_own=*/true)
               : sc_unfinished_simple_work(stream, at_least);
}

/* Notes work that is surely in the stream's own queue, by which the driver sees that the stream is
 * busy. Returns its time. */
uint64_t sc_unfinished_queued_work(struct sc_stream_record *stream, uint64_t at_least)
{
    uint64_t now = note_work_at(stream, next_of_family(stream, at_least), /*is_own=*/true);
    set(&stream->unfinished.queued_ticks, now);
    return now;
}

/* Notes work that may be a host function. Its time is read from the clock, since host functions are
 * compared with touches. Returns the time. */
uint64_t sc_unfinished_host_work(struct sc_stream_record *stream)
{
    uint64_t now = note_work_at(stream, read_clock(stream), /*is_own=*/true);
    note_host_work(stream, now, /*is_own=*/true);
    return now;
}

/* Returns a time for the stream's wait for other work: later than all the stream's times, since the
 * wait comes after all of its work. */
static uint64_t time_of_join(struct sc_stream_record *stream)
{
    return is_in_family(stream)
               ? next_of_family(stream, 0)
               : later(behind_waits(stream), sc_unfinished_before_simple_event(stream) + 1);
}

/* Notes that the stream waits for other work, as work of its own or, with `is_own` false, as
 * another stream's. The other work may be a host function, if there ever was one. */
static void note_join(struct sc_stream_record *stream, uint64_t now, bool is_own)
{
    note_work_at(stream, now, is_own);
    if (!no_host_work_ever())
        note_host_work(stream, now, is_own);
}

void sc_unfinished_join(struct sc_stream_record *stream)
{
    note_join(stream, time_of_join(stream), /*is_own=*/true);
}

bool sc_unfinished_is_overtaken(const struct sc_stream_record *stream, uint64_t ticks)
{
    return stream->kind == SC_STREAM_BLOCKING || behind_waits(stream) > ticks ||
           get(&stream->unfinished.recorded_ticks) >= ticks;
}

void sc_unfinished_legacy(struct sc_stream_record *stream)
{
    if (stream->kind == SC_STREAM_LEGACY)
        raise_to(&stream->context->unfinished.legacy_ticks, next_of_family(stream, 0));
}

/* Called when an event is recorded: on the legacy stream that is work, and in the stream's own
 * queue. On other streams it is none. */
void sc_unfinished_record(struct sc_stream_record *stream)
{
    if (stream->kind != SC_STREAM_LEGACY)
        return;
    sc_unfinished_legacy(stream);
    sc_unfinished_queued(stream, sc_unfinished_legacy_ticks(stream->context));
}

uint64_t sc_unfinished_legacy_ticks(struct sc_context *context)
{
    return get(&context->unfinished.legacy_ticks);
}

/* For the walk over a context's streams: notes that the stream waits for work of which nothing is
 * known. Takes the stream's lock, under which records are given to other streams. */
static void note_context_wait(void *unused, struct sc_stream_record *stream)
{
    (void)unused;
    sc_mutex_lock(&stream->lock);
    sc_unfinished_join(stream);
    sc_mutex_unlock(&stream->lock);
}

/* Called before all streams of a context are told to wait for an event, those still to come
 * included: what they wait for counts as unfinished work of each. */
void sc_unfinished_context_waits(struct sc_context *context)
{
    sc_ticks_barrier(); /* the time is also one of work (note_work): neither may be early */
    context->unfinished.waits_ticks = sc_ticks_not_late();
    raise_to(&context->unfinished.asked_ticks, context->unfinished.waits_ticks);
    sc_streams_each_ever(context, note_context_wait, NULL);
}

/* Notes that a wait of the host begins, before the driver is called. `asked`: the member
 * `asked_ticks` of what it waits for. Returns the time up to which issued work is done if the wait
 * succeeds. */
static uint64_t begin_wait(_Atomic uint64_t *asked)
{
    uint64_t since_ticks = sc_ticks_not_late();
    raise_to(asked, since_ticks + 1);
    sc_ticks_note_read(since_ticks);
    return since_ticks;
}

/* Called when the host begins to wait for the stream: returns the time up to which its work is done
 * afterwards. If the context was told to wait for an event, and the stream has still to join that
 * (SC_TIE_DUE), its wait may not cover it; so the time is before that. */
uint64_t sc_unfinished_stream_since(struct sc_stream_record *stream)
{
    if (sc_unlikely(sc_track_is_tied(&sc_track, stream->id, SC_TIE_DUE)))
        return sc_unfinished_gate_ticks(stream->context) - 1;
    return begin_wait(stream->kind == SC_STREAM_LEGACY ? &stream->context->unfinished.asked_ticks
                                                       : &stream->unfinished.asked_ticks);
}

/* Notes that an event was recorded behind work of that time: a later wait for it covers that work.
 * Returns the time. */
uint64_t sc_unfinished_raise_recorded(struct sc_stream_record *stream, uint64_t before)
{
    raise_to(&stream->unfinished.recorded_ticks, before);
    return before;
}

/* Called when an event was recorded on a legacy stream without blocking streams: returns the time
 * of the work before it. The event is in the stream's own queue. */
uint64_t sc_unfinished_lone_record(struct sc_stream_record *stream)
{
    struct sc_context_unfinished *all = &stream->context->unfinished;
    uint64_t before = later(get(&all->family.own_ticks), get(&all->legacy_ticks));
    set(&stream->unfinished.queued_ticks, before);
    return sc_unfinished_note_record(stream, before);
}

/* Returns a time later than all times of the stream, or of its family. The clock is not read. */
uint64_t sc_unfinished_now(struct sc_stream_record *stream)
{
    return is_in_family(stream)
               ? next_of_family(stream, 0)
               : later(sc_ticks_lately(), sc_unfinished_before_simple_event(stream) + 1);
}

/* Called before an event is recorded: returns the time up to which a wait for it covers work.
 * Another thread that is issuing work notes that before its call and again after it. If the event
 * comes before that work, the later note stays. What the context was told to wait for, and the
 * stream has still to join (SC_TIE_DUE), is not covered. The legacy stream's event covers the
 * blocking streams' work. */
uint64_t sc_unfinished_before_event(struct sc_stream_record *stream)
{
    struct sc_context_unfinished *all = &stream->context->unfinished;
    uint64_t own = sc_unfinished_before_simple_event(stream);
    if (sc_unlikely(sc_track_is_tied(&sc_track, stream->id, SC_TIE_DUE)))
        return sc_unfinished_gate_ticks(stream->context) - 1;
    if (stream->kind == SC_STREAM_LEGACY)
        own = later(own, later(get(&all->family.own_ticks), get(&all->legacy_ticks)));
    return sc_unfinished_note_record(stream, own);
}

/* Called when the host begins to wait for the context: returns up to which time its work is done
 * afterwards. While the primary context of a green one may still wait for an event, later work is
 * left out. */
uint64_t sc_unfinished_context_since(struct sc_context *context)
{
    struct sc_context *primary = context->primary;
    if (primary && get(&primary->unfinished.waits_ticks) > get(&primary->unfinished.done_ticks))
        return get(&primary->unfinished.waits_ticks) - 1;
    return begin_wait(&context->unfinished.asked_ticks);
}

/* Called when such a wait has succeeded: what was issued on the stream by that time is done. A wait
 * for the legacy stream covers the blocking streams, too. */
void sc_unfinished_stream_done(struct sc_stream_record *stream, uint64_t since_ticks)
{
    raise_to(&stream->unfinished.done_ticks, since_ticks);
    if (stream->kind == SC_STREAM_LEGACY)
        raise_to(&stream->context->unfinished.family.done_ticks, since_ticks);
}

void sc_unfinished_context_done(struct sc_context *context, uint64_t since_ticks)
{
    raise_to(&context->unfinished.family.done_ticks, since_ticks);
    raise_to(&context->unfinished.done_ticks, since_ticks);
}

/* Returns up to which time the stream's work is known done, by waits for it or for its context. A
 * wait for a primary context covers its green contexts. */
static inline uint64_t done_ticks_of(struct sc_stream_record *stream)
{
    struct sc_context *context = stream->context;
    uint64_t all = get(&context->unfinished.done_ticks);
    if (context->primary)
        all = later(all, get(&context->primary->unfinished.done_ticks));
    return later(all, get(&stream->unfinished.done_ticks));
}

/* Has the host waited for what was issued on the stream at that time: by a wait for the stream, its
 * context, or the legacy stream of its family? */
bool sc_unfinished_is_done(struct sc_stream_record *stream, uint64_t issued_ticks)
{
    return issued_ticks <= done_ticks_of(stream) ||
           (is_in_family(stream) &&
            issued_ticks <= get(&stream->context->unfinished.family.done_ticks));
}

/* ---- what was joined ---- */

static uint32_t joined_stream(const struct sc_joined_work *joined)
{
    return atomic_load_explicit(&joined->stream, memory_order_relaxed);
}

/* Returns the record of the stream whose work this one was told to wait for (joined); NULL: that
 * stream is gone, and its id may be another's. A record that became a stream's after the wait is
 * none of it. */
static struct sc_stream_record *joined_record(const struct sc_joined_work *joined)
{
    uint32_t id = joined_stream(joined);
    struct sc_stream_record *of = id ? sc_streams_of_id(id) : NULL;
    return of && get(&of->unfinished.since_ticks) <= get(&joined->at_ticks) ? of : NULL;
}

/* Is the work done that the stream was told to wait for (joined work of another stream): has the
 * host waited for this stream since, or for the other one? The entry is read without a lock, and
 * its time twice: no if another thread is changing it. */
static bool is_joined_done(struct sc_stream_record *stream, const struct sc_joined_work *joined)
{
    uint64_t work_ticks = atomic_load_explicit(&joined->work_ticks, memory_order_acquire);
    struct sc_stream_record *of = joined_record(joined);
    bool is_done = !joined_stream(joined) || get(&joined->at_ticks) <= done_ticks_of(stream) ||
                   (of && sc_unfinished_is_done(of, work_ticks));
    atomic_thread_fence(memory_order_acquire);
    return is_done && work_ticks == get(&joined->work_ticks);
}

static bool is_of_host(const struct sc_joined_work *joined)
{
    return atomic_load_explicit(&joined->is_of_host, memory_order_relaxed);
}

/* Is all work done that the stream was told to wait for on other streams? `host_only`: only work
 * that may be a host function counts. */
static __attribute__((noinline)) bool are_joined_done(struct sc_stream_record *stream,
                                                      bool host_only)
{
    for (unsigned i = 0; i < SC_JOINED_MAX; i++) {
        const struct sc_joined_work *joined = &stream->unfinished.joined[i];
        if ((!host_only || is_of_host(joined)) && !is_joined_done(stream, joined))
            return false;
    }
    return true;
}

/* Returns the stream's entry for work of another stream (`id`) that it was told to wait for: the
 * one that it has, or one whose work is done. NULL: there is no room. */
static struct sc_joined_work *find_joined_place(struct sc_stream_record *stream, uint32_t id)
{
    struct sc_joined_work *place = NULL;
    for (unsigned i = 0; i < SC_JOINED_MAX; i++) {
        struct sc_joined_work *joined = &stream->unfinished.joined[i];
        if (joined_stream(joined) == id && joined_record(joined))
            return joined;
        if (!place && is_joined_done(stream, joined))
            place = joined;
    }
    return place;
}

/* Notes that the stream waits for work of the stream `of`, issued up to `work_ticks`. Readers take
 * no lock, so the entry's time is UINT64_MAX, which nothing covers, while it is changed. Returns
 * false if there is no room; then the work counts as the stream's own. */
static bool add_joined(struct sc_stream_record *stream, uint64_t now,
                       const struct sc_stream_record *of, uint64_t work_ticks, bool of_host)
{
    uint32_t id = of->id;
    struct sc_joined_work *place = find_joined_place(stream, id);
    if (!place)
        return false;
    bool goes_on = joined_stream(place) == id && !is_joined_done(stream, place);
    uint64_t former = goes_on ? get(&place->work_ticks) : 0;
    of_host |= goes_on && is_of_host(place);
    set(&place->work_ticks, UINT64_MAX);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&place->stream, id, memory_order_relaxed);
    atomic_store_explicit(&place->is_of_host, of_host, memory_order_relaxed);
    set(&place->at_ticks, later(now, get(&of->unfinished.since_ticks)));
    atomic_store_explicit(&place->work_ticks, later(former, work_ticks), memory_order_release);
    return true;
}

/* Notes that `stream` waits for what `of` has waited for: an event stands for that, too. What came
 * from `stream` itself comes before its next work anyway. Returns false if there is no room, or if
 * a stream of such work is gone, so that its end cannot be learnt. */
static bool join_what_it_joined(struct sc_stream_record *stream, uint64_t now,
                                struct sc_stream_record *of)
{
    for (unsigned i = 0; i < SC_JOINED_MAX; i++) {
        const struct sc_joined_work *joined = &of->unfinished.joined[i];
        const struct sc_stream_record *in = joined_record(joined);
        if (!is_joined_done(of, joined) && in != stream &&
            !(in && add_joined(stream, now, in, get(&joined->work_ticks), is_of_host(joined))))
            return false;
    }
    return true;
}

/* Has the host waited for all work of the family (a context's legacy and blocking streams)?
 * `host_only`: for all that may be host functions. */
static inline bool family_work_is_done(const struct sc_context_unfinished *all, bool host_only)
{
    return get(host_only ? &all->family.own_host_ticks : &all->family.own_ticks) <=
           get(&all->family.done_ticks);
}

/* Was all that comes before the stream's work issued on it, or on streams that it was told to wait
 * for? If not, times of this stream alone do not tell what an event on it stands for: so of a
 * legacy stream, of a blocking one behind the legacy stream's work, or behind a wait of the
 * context. */
static bool is_by_itself(struct sc_stream_record *stream)
{
    struct sc_context_unfinished *all = &stream->context->unfinished;
    if (sc_track_is_tied(&sc_track, stream->id, SC_TIE_DUE) || stream->kind == SC_STREAM_LEGACY)
        return false;
    return stream->kind == SC_STREAM_NONBLOCKING || family_work_is_done(all, /*host_only=*/false) ||
           get(&all->legacy_ticks) <= get(&all->family.done_ticks);
}

/* Notes that the stream waits for an event of `of`, which stands for that stream's work up to
 * `work_ticks` and for what it had joined. Work that is done is left out. Returns false if there is
 * no room. */
static bool add_joined_work(struct sc_stream_record *stream, uint64_t now,
                            struct sc_stream_record *of, uint64_t work_ticks)
{
    uint64_t own_ticks = get(&of->unfinished.own_ticks);
    uint64_t ticks = own_ticks < work_ticks ? own_ticks : work_ticks;
    bool of_host = !sc_unfinished_is_done(of, get(&of->unfinished.own_host_ticks));
    return (sc_unfinished_is_done(of, ticks) || add_joined(stream, now, of, ticks, of_host)) &&
           join_what_it_joined(stream, now, of);
}

/* Notes that the stream waits for work of the stream `of` up to this time, so that a wait of the
 * host for `of` ends it as well. If there is no room, or another thread is at it, it counts as the
 * stream's own work, which only a wait for this stream ends. Work of an unknown stream may be a
 * host function. */
uint64_t sc_unfinished_join_of(struct sc_stream_record *stream, struct sc_stream_record *of,
                               uint64_t work_ticks)
{
    _Atomic bool *is_joining = &stream->unfinished.is_joining;
    uint64_t now = time_of_join(stream);
    bool is_kept = false;
    if (of && of != stream && work_ticks && is_by_itself(of) &&
        !atomic_exchange_explicit(is_joining, true, memory_order_acquire)) {
        is_kept = add_joined_work(stream, now, of, work_ticks);
        atomic_store_explicit(is_joining, false, memory_order_release);
    }
    note_join(stream, now, !is_kept);
    if (!of)
        note_host_work(stream, now, /*is_own=*/true);
    return now;
}

/* ---- is anything at work? ---- */

/* Has the host waited for all work that was issued on the stream itself, and for all that the
 * stream was told to wait for (joined work)? The latter also counts as done if the host has waited
 * for it on the other streams. `host_only`: only work that may be a host function counts. */
static inline bool own_work_is_done(struct sc_stream_record *stream, bool host_only)
{
    const struct sc_unfinished *work = &stream->unfinished;
    uint64_t done_ticks = done_ticks_of(stream);
    return get(host_only ? &work->own_host_ticks : &work->own_ticks) <= done_ticks &&
           (get(host_only ? &work->joined_host_ticks : &work->joined_ticks) <= done_ticks ||
            are_joined_done(stream, host_only));
}

/* Has the host waited for all work before the stream's next operation? Work of the legacy stream
 * comes after that of all blocking streams, and theirs after its work. `host_only`: only work that
 * may be a host function counts. */
SC_INLINED bool nothing_is_at_work(struct sc_stream_record *stream, bool host_only)
{
    const struct sc_context_unfinished *all = &stream->context->unfinished;
    if (stream->kind == SC_STREAM_LEGACY)
        return family_work_is_done(all, host_only);
    return own_work_is_done(stream, host_only) &&
           (stream->kind == SC_STREAM_NONBLOCKING ||
            get(&all->legacy_ticks) <= get(&all->family.done_ticks) ||
            family_work_is_done(all, host_only));
}

bool sc_unfinished_is_clear(struct sc_stream_record *stream)
{
    return nothing_is_at_work(stream, /*host_only=*/false);
}

/* Can no unfinished work write the pageable source of the stream's next copy? Kernels write such
 * memory only if the device uses it directly; else only host functions do, and host functions of
 * streams that it has joined. */
bool sc_unfinished_spares_pageable(struct sc_stream_record *stream)
{
    if (stream->context->reads_pageable)
        return nothing_is_at_work(stream, /*host_only=*/false);
    return no_host_work_ever() || nothing_is_at_work(stream, /*host_only=*/true);
}

/* Notes that the stream's own queue had work in it at that time: the driver then does not read the
 * source of a later copy within the call. */
void sc_unfinished_queued(struct sc_stream_record *stream, uint64_t ticks)
{
    set(&stream->unfinished.queued_ticks, ticks);
    if (is_in_family(stream))
        raise_to(&stream->context->unfinished.latest_ticks, ticks);
}

/* Called when a copy to the host was issued on a blocking stream, or such a stream waits for one:
 * the legacy stream's next operation comes after it, out of the driver's sight. */
void sc_unfinished_written(struct sc_stream_record *stream)
{
    if (stream->kind == SC_STREAM_BLOCKING)
        raise_to(&stream->context->unfinished.written_ticks, next_of_family(stream, 0));
}

/* Does the stream's next copy come after unfinished work of other streams, with nothing in its own
 * queue behind that work? The driver then takes the stream for idle, and may read the copy's source
 * within the call, too early. Such work comes by a wait of the context that the stream has still to
 * join (SC_TIE_DUE), or by the legacy stream's rules. `known`: copies to the host count as such
 * work, too. */
bool sc_unfinished_is_hidden(struct sc_stream_record *stream, bool known)
{
    struct sc_context_unfinished *all = &stream->context->unfinished;
    uint64_t queued = get(&stream->unfinished.queued_ticks);
    if (sc_track_is_tied(&sc_track, stream->id, SC_TIE_DUE) &&
        sc_unfinished_gate_ticks(stream->context) > queued)
        return true;
    uint64_t behind = later(queued, get(&all->family.done_ticks));
    if (stream->kind == SC_STREAM_LEGACY)
        return get(&all->family.own_ticks) > behind || (known && get(&all->written_ticks) > behind);
    return stream->kind == SC_STREAM_BLOCKING && get(&all->legacy_ticks) > behind;
}
