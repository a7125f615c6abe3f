#include "interpose/streams/streams.h"

#include <errno.h>

#include "common/arena.h"
#include "common/checks.h"
#include "common/handles.h"
#include "common/mutex.h"
#include "common/own_pages.h"
#include "common/points.h"
#include "common/trace.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/unfinished.h"
#include "track/order_calls.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_order.h"
#include "track/track_streams.h"

#include "common/poison.h"

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
struct sc_handles sc_streams_by_handle;
static struct sc_handles by_id; /* the tracker's id -> struct sc_stream_record * */
static struct sc_arena arena SC_GUARDED_BY(registry_lock);
static struct sc_stream_record *spare_records SC_GUARDED_BY(registry_lock);
static pthread_key_t thread_exit_key;

/* Streams that are gone and may still have marks; the one that waits longest is first. */
static struct sc_stream_record *first_gone SC_GUARDED_BY(registry_lock);
static struct sc_stream_record *last_gone SC_GUARDED_BY(registry_lock);

enum { POLLED_GONE = 2 }; /* so many of these are polled when a stream comes or goes */

/* The per-thread default streams of this thread, one for each context that it used. */
static __thread struct sc_stream_record *own_streams;

static _Atomic uint32_t highest_id;

/* Notes that the record's handle names this stream no more. */
static void set_gone_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    atomic_fetch_or(&stream->life, SC_STREAM_GONE);
}

/* Is the record still, or was it at last, that of the stream which had this `life`? */
static bool is_of_life(const struct sc_stream_record *stream, uint32_t life)
{
    return (atomic_load(&stream->life) | SC_STREAM_GONE) == (life | SC_STREAM_GONE);
}

/* Appends the stream to the list of destroyed streams whose work may still run, so that its marks
 * (events behind its work) are asked about at some time. */
static void append_gone_locked(struct sc_stream_record *stream) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    SC_ASSERT(!first_gone || (last_gone && !last_gone->next_gone));
    SC_ASSERT(stream != last_gone || !first_gone);
    *(first_gone ? &last_gone->next_gone : &first_gone) = stream;
    stream->next_gone = NULL;
    last_gone = stream;
}

/* Called when a stream was destroyed: releases its id in the tracker, and lists its record, so that
 * the end of its work is still seen. Under one lock, since from then on the record may be given to
 * another stream. */
static void remove_stream(struct sc_stream_record *stream)
{
    SC_TRACE("record-remove stream", stream->id);
    SC_LOCKED(&registry_lock);
    sc_track_remove_stream(&sc_track, stream->id);
    if (!stream->is_listed)
        append_gone_locked(stream);
    stream->is_listed = stream->is_removed = true;
}

/* Called at the end of a thread (a destructor of thread_exit_key): removes the thread's default
 * streams, which nobody can name any more. In a forked child, where wrappers are inactive, no lock
 * may be taken. */
static void forget_thread_streams(void *argument)
{
    struct sc_stream_record **first = argument;
    while (sc_active() && *first) {
        struct sc_stream_record *stream = *first;
        *first = stream->next_owned;
        sc_mutex_lock(&stream->lock);
        set_gone_locked(stream);
        sc_mutex_unlock(&stream->lock);
        remove_stream(stream);
    }
    *first = NULL;
}

/* Removes this thread's default streams in contexts that have ended. Only the thread itself may
 * change its list, so it does so when it uses a new one. */
static void forget_dead_streams(void)
{
    struct sc_stream_record **link = &own_streams;
    while (*link) {
        struct sc_stream_record *stream = *link;
        if (atomic_load_explicit(&stream->context->gone, memory_order_acquire)) {
            *link = stream->next_owned;
            sc_track_remove_stream(&sc_track, stream->id);
        } else {
            link = &stream->next_owned;
        }
    }
}

int sc_streams_init(void)
{
    pthread_key_create(&thread_exit_key, forget_thread_streams);
    return sc_handles_init(&sc_streams_by_handle) || sc_handles_init(&by_id) ? -ENOMEM : 0;
}

/* Keeps the record for another stream. Its memory is never freed, since a thread may still point to
 * it. */
static void free_record_locked(struct sc_stream_record *stream) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    SC_ASSERT(stream != spare_records);
    stream->next_spare = spare_records;
    spare_records = stream;
}

/* Returns an unused record, or a new one; NULL: no memory. A record's lock is initialised only
 * once: a thread that has found the record by its former id may still take it, and then sees
 * another id. */
static struct sc_stream_record *take_record_locked(void) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    struct sc_stream_record *stream = spare_records;
    if (stream) {
        spare_records = stream->next_spare;
        return stream;
    }
    stream = sc_arena_alloc(&arena, sizeof *stream);
    if (stream)
        *stream = (struct sc_stream_record){.lock = PTHREAD_MUTEX_INITIALIZER};
    return stream;
}

/* ---- the streams of a context ---- */

/* Returns the context whose list has the context's streams: for a green context (part of a device)
 * its primary one, since green ones come and go. */
static struct sc_context *listing_context(struct sc_context *context)
{
    return context->primary ? context->primary : context;
}

/* Adds the stream to its context's list, for walks over all streams of a context. */
static void link_locked(struct sc_stream_record *stream) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    struct sc_stream_record **first = &listing_context(stream->context)->streams;
    stream->next_of_context = *first;
    stream->link_of_context = first;
    if (*first)
        (*first)->link_of_context = &stream->next_of_context;
    SC_ASSERT(*first != stream);
    *first = stream;
    SC_ASSERT(*stream->link_of_context == stream);
}

/* Removes the stream from its context's list, if it is there. */
static void unlink_locked(struct sc_stream_record *stream) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    if (!stream->link_of_context)
        return;
    SC_ASSERT(*stream->link_of_context == stream);
    *stream->link_of_context = stream->next_of_context;
    if (stream->next_of_context)
        stream->next_of_context->link_of_context = stream->link_of_context;
    stream->link_of_context = NULL;
}

/* Frees the record that had this id before. The tracker gives an id again only if nothing refers to
 * it, so nobody asks about its marks (events) any more. If a thread has the record's lock at this
 * moment, the record is leaked: to wait for it could be for ever. */
static void recycle_former_record_locked(uint32_t id) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    struct sc_stream_record *former = sc_handle_pointer(sc_handles_get(&by_id, id));
    if (!former)
        return;
    SC_ASSERT(former->id == id);
    unlink_locked(former);
    if (sc_mutex_trylock(&former->lock) != 0)
        return;
    sc_marks_drop(former);
    former->id = 0;
    sc_mutex_unlock(&former->lock);
    free_record_locked(former);
}

/* ---- streams that are gone ---- */

/* Takes the destroyed stream off the list that was checked longest ago; NULL: there is none. */
static struct sc_stream_record *take_gone(void)
{
    SC_LOCKED(&registry_lock);
    struct sc_stream_record *stream = first_gone;
    SC_ASSERT(!stream || stream->is_listed);
    first_gone = stream ? stream->next_gone : NULL;
    return stream;
}

/* Has the destroyed stream marks (events behind its work) that may still occur? Not if the events
 * have ended with the context, or the record is another stream's by now. */
static bool has_marks_locked(const struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    return stream->id && sc_stream_is_gone(stream) &&
           !sc_contexts_events_are_dead(stream->context) && sc_marks_are_left_locked(stream);
}

/* Asks the driver: has all work of the destroyed stream that a mark comes after ended? */
static bool marks_are_spent_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    if (!has_marks_locked(stream))
        return true;
    sc_marks_poll_locked(stream);
    return !sc_marks_are_left_locked(stream);
}

/* Can the record be given to another stream? Only if the stream was removed (a stream that is about
 * to be destroyed is gone, and may be listed for a former one with this record), all work is known
 * complete, and no later lookup needs it. The record of a thread's default stream, and of a legacy
 * stream, stays. */
static bool is_superfluous_locked(const struct sc_stream_record *stream) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    if (!stream->id || !stream->is_removed || stream->owner || stream->kind == SC_STREAM_LEGACY ||
        sc_handle_pointer(sc_handles_get(&by_id, stream->id)) != stream)
        return false;
    struct sc_ticket last = {.stream = stream->id,
                             .number = sc_track_issued(&sc_track, stream->id)};
    return sc_track_is_complete(&sc_track, &last);
}

/* Lists the destroyed stream again if events behind its work have still to occur (`spent` false).
 * Else frees its record, unless something may still ask for it. */
static void put_or_recycle_locked(struct sc_stream_record *stream, bool spent)
    SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    stream->is_listed = !spent;
    if (!spent)
        append_gone_locked(stream);
    else if (is_superfluous_locked(stream)) {
        SC_ASSERT_HELD(&stream->lock);
        sc_handles_remove(&by_id, stream->id);
        unlink_locked(stream);
        sc_marks_drop(stream);
        stream->id = 0;
        free_record_locked(stream);
    }
}

/* Has all work of the destroyed stream ended, as far as events show? False also if another thread
 * has the lock, perhaps in a call that blocks: it is asked again at another time. */
static bool are_marks_spent(struct sc_stream_record *stream)
{
    if (sc_mutex_trylock(&stream->lock) != 0)
        return false;
    bool spent = marks_are_spent_locked(stream);
    sc_mutex_unlock(&stream->lock);
    return spent;
}

/* Asks about a destroyed stream's work, and frees its record if that is done. The registry's lock
 * must not be waited for with a stream's lock held: where a record is given to a stream the two are
 * taken in the other order. So the marks are looked at again under both locks, as the stream may
 * have got one in between. */
static void poll_gone_stream(struct sc_stream_record *stream) SC_UNFOLLOWED
{
    bool spent = are_marks_spent(stream);
    sc_mutex_lock(&registry_lock);
    bool locked = spent && sc_mutex_trylock(&stream->lock) == 0;
    put_or_recycle_locked(stream, locked && !has_marks_locked(stream));
    if (locked)
        sc_mutex_unlock(&stream->lock);
    sc_mutex_unlock(&registry_lock);
}

/* Called when a stream comes or goes: checks POLLED_GONE destroyed streams, and frees the records
 * of those whose work is done. So records and events come back even if nobody asks about them. */
static void poll_gone(void)
{
    for (int i = 0; i < POLLED_GONE; i++) {
        struct sc_stream_record *stream = take_gone();
        if (!stream)
            return;
        poll_gone_stream(stream);
    }
}

/* ---- streams that come ---- */

/* Fills in the record for a new stream. Its lock and its links in lists stay, since other threads
 * may be using them. While the legacy stream owes a wait (it cannot make one during a capture), a
 * new blocking stream owes it as well. */
static void fill_record(struct sc_stream_record *stream, uint32_t id, CUstream handle,
                        enum sc_stream_kind kind, struct sc_context *context)
{
    SC_TRACE("record-fill stream handle kind", id, handle, kind);
    SC_LOCKED(&stream->lock);
    SC_ASSERT(id != 0 && context != NULL);
    SC_ASSERT(!stream->link_of_context);
    stream->is_removed = false;
    stream->id = id;
    stream->kind = kind;
    stream->front = SC_TRACKED(sc_order_front(track.order, id));
    stream->since_number = sc_stream_front_issued(stream->front);
    stream->owner = handle == CU_STREAM_PER_THREAD ? sc_thread_id() : 0;
    stream->handle = handle;
    stream->context = context;
    atomic_store(&stream->life, (stream->life & ~SC_STREAM_GONE) + SC_STREAM_NEXT_LIFE);
    stream->capturing = (struct sc_capturing){0};
    stream->owes_wait = kind == SC_STREAM_BLOCKING && context->legacy_stream->owes_wait;
    sc_unfinished_renew(stream);
    sc_marks_renew_locked(stream);
}

/* Makes a record for a stream that has none, with an id of the tracker's. Returns NULL if there is
 * no memory. */
static struct sc_stream_record *add_record_locked(CUstream handle, enum sc_stream_kind kind,
                                                  struct sc_context *context)
    SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    struct sc_stream_record *stream = take_record_locked();
    if (!stream)
        return NULL;
    uint32_t id =
        sc_track_add_stream(&sc_track, kind, context->legacy, (uintptr_t)handle, context->device);
    if (id) {
        recycle_former_record_locked(id);
        if (id > atomic_load(&highest_id))
            atomic_store(&highest_id, id);
        fill_record(stream, id, handle, kind, context);
        if (sc_handles_put(&by_id, id, (uintptr_t)stream) == 0) {
            link_locked(stream);
            return stream;
        }
    }
    free_record_locked(stream);
    return NULL;
}

/* Returns the stream, after the wait that it owes: while it captured, it could not wait for an
 * operation of the legacy stream that the library has made on a private stream. */
static struct sc_stream_record *pay_owed_wait(struct sc_stream_record *stream)
{
    if (sc_unlikely(atomic_load_explicit(&stream->owes_wait, memory_order_acquire)))
        sc_detours_pay(stream);
    return stream;
}

/* Makes the record of a new context's legacy stream. */
struct sc_stream_record *sc_streams_add_legacy(struct sc_context *context)
{
    sc_mutex_lock(&registry_lock);
    struct sc_stream_record *stream =
        add_record_locked(CU_STREAM_LEGACY, SC_STREAM_LEGACY, context);
    sc_mutex_unlock(&registry_lock);
    if (stream && context->primary)
        SC_TRACKED(sc_order_set_primary(track.order, stream->id, context->primary->legacy));
    return stream;
}

/* Returns the calling thread's default stream in the current context; makes its record at its first
 * use. NULL: there is no context, or no memory. The list of a thread's streams is short and its
 * own, so no lock is needed to look there. */
static struct sc_stream_record *find_per_thread(void)
{
    struct sc_context *context = sc_contexts_current();
    if (!context)
        return NULL;
    for (struct sc_stream_record *known = own_streams; known; known = known->next_owned)
        if (known->context == context)
            return pay_owed_wait(known);
    forget_dead_streams();
    sc_mutex_lock(&registry_lock);
    struct sc_stream_record *stream =
        add_record_locked(CU_STREAM_PER_THREAD, SC_STREAM_BLOCKING, context);
    sc_mutex_unlock(&registry_lock);
    if (!stream)
        return NULL;
    stream->next_owned = own_streams;
    own_streams = stream;
    pthread_setspecific(thread_exit_key, &own_streams);
    poll_gone();
    return pay_owed_wait(stream);
}

/* Makes a record for a stream that was not known, by what the driver says of it. NULL: it does not
 * exist, there is no memory, or it captures: to ask for its flags would break its capture. Another
 * thread may have made the record meanwhile. */
static struct sc_stream_record *learn_stream(CUstream handle)
{
    unsigned flags = 0;
    CUcontext context_handle = NULL;
    if (sc_capturing_may_be_on(handle) ||
        sc_real.cuStreamGetFlags(handle, &flags) != CUDA_SUCCESS ||
        sc_real.cuStreamGetCtx(handle, &context_handle) != CUDA_SUCCESS)
        return NULL;
    struct sc_context *context = sc_contexts_of(context_handle);
    if (!context)
        return NULL;
    enum sc_stream_kind kind =
        flags & CU_STREAM_NON_BLOCKING ? SC_STREAM_NONBLOCKING : SC_STREAM_BLOCKING;
    sc_mutex_lock(&registry_lock);
    struct sc_stream_record *stream =
        sc_handle_pointer(sc_handles_get(&sc_streams_by_handle, (uintptr_t)handle));
    if (!stream)
        stream = add_record_locked(handle, kind, context);
    if (stream && sc_handles_put(&sc_streams_by_handle, (uintptr_t)handle, (uintptr_t)stream))
        stream = NULL;
    sc_mutex_unlock(&registry_lock);
    poll_gone();
    return stream ? pay_owed_wait(stream) : NULL;
}

static struct sc_stream_record *relearn_stream(struct sc_stream_record *former, uint32_t life,
                                               CUstream handle);

struct sc_stream_record *sc_streams_find_known(CUstream handle)
{
    struct sc_stream_record *stream =
        sc_handle_pointer(sc_handles_get(&sc_streams_by_handle, (uintptr_t)handle));
    return stream && !sc_stream_is_gone(stream) ? stream : NULL;
}

/* Finds a default stream, which is not in the table, or one that the quick look has missed. A
 * handle whose stream is gone names another one by now. */
static __attribute__((noinline)) struct sc_stream_record *find_less_common(CUstream handle,
                                                                           bool per_thread)
{
    if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread))
        return find_per_thread();
    if (!handle || handle == CU_STREAM_LEGACY) {
        struct sc_context *context = sc_contexts_current();
        return context ? context->legacy_stream : NULL;
    }
    struct sc_stream_record *stream =
        sc_handle_pointer(sc_handles_search(&sc_streams_by_handle, (uintptr_t)handle));
    if (!stream)
        return learn_stream(handle);
    uint32_t life = atomic_load(&stream->life);
    return life & SC_STREAM_GONE ? relearn_stream(stream, life, handle) : stream;
}

/* Returns the record of the stream that a call names; most are found by one look into the table.
 * Makes the record at the stream's first use. NULL: no context, no memory, or a stream that
 * captures and is not known. */
struct sc_stream_record *sc_streams_find(CUstream handle, bool per_thread)
{
    uint64_t value;
    struct sc_stream_record *stream;
    if (sc_likely(handle &&
                  sc_handles_get_at_once(&sc_streams_by_handle, (uintptr_t)handle, &value) &&
                  (stream = sc_handle_pointer(value)) != NULL && !sc_stream_is_gone(stream)))
        return stream;
    return find_less_common(handle, per_thread);
}

bool sc_streams_is_captured_legacy(struct sc_stream_record *stream)
{
    return stream->context->may_be_green && sc_streams_graph(stream) != 0;
}

struct sc_stream_record *sc_streams_find_captured(CUstream handle, bool per_thread)
{
    struct sc_stream_record *stream = sc_active() ? sc_streams_find(handle, per_thread) : NULL;
    return stream && sc_streams_is_captured(stream) ? stream : NULL;
}

struct sc_stream_record *sc_streams_of_id(uint32_t id)
{
    return sc_handle_pointer(sc_handles_get(&by_id, id));
}

/* Called before the driver destroys the stream: takes its handle out of the table, since the driver
 * may give it to another thread's cuStreamCreate at once. Records a last mark (an event behind its
 * work) while the stream can be named. Where captures are repaired, the library's own marker stream
 * waits for that work as well, as the legacy stream does. Returns the record; NULL: it has none. */
struct sc_stream_record *sc_streams_destroying(CUstream handle)
{
    if (!handle)
        return NULL;
    sc_mutex_lock(&registry_lock);
    struct sc_stream_record *stream =
        sc_handle_pointer(sc_handles_remove(&sc_streams_by_handle, (uintptr_t)handle));
    sc_mutex_unlock(&registry_lock);
    if (!stream)
        return NULL;
    sc_mutex_lock(&stream->lock);
    sc_marks_add_locked(stream);
    if (sc_captures_are_repaired())
        sc_marks_outlive_locked(stream);
    set_gone_locked(stream);
    sc_mutex_unlock(&stream->lock);
    return stream;
}

/* Called when the driver has refused to destroy the stream: lets its handle name it again. False:
 * the handle names another record by now, which another thread has made meanwhile, or the context
 * has ended, so that the stream is to be ended all the same. */
bool sc_streams_name_again(struct sc_stream_record *stream)
{
    SC_LOCKED(&registry_lock);
    if (sc_handles_get(&sc_streams_by_handle, (uintptr_t)stream->handle) || stream->context->gone)
        return false;
    atomic_fetch_and(&stream->life, ~SC_STREAM_GONE);
    sc_handles_put(&sc_streams_by_handle, (uintptr_t)stream->handle, (uintptr_t)stream);
    return true;
}

/* Called when the driver has destroyed the stream. The record stays until its work is seen to be
 * done, or until the tracker gives the id to another stream. */
void sc_streams_destroyed(struct sc_stream_record *stream)
{
    remove_stream(stream);
    poll_gone();
}

/* The streams of a context to be visited. */
struct walk {
    struct sc_context *context;
    bool is_whole; /* also streams that are gone, and those of its green contexts */
    unsigned count, room;
    struct sc_stream_record **streams;
};

/* Is the stream one of those that the walk visits? A thread's default stream is, even if the thread
 * has ended: its work may still run, and it is never destroyed by a call. */
static bool is_walked(const struct walk *walk, const struct sc_stream_record *stream)
{
    if (walk->is_whole)
        return stream->context == walk->context || stream->context->primary == walk->context;
    return stream->context == walk->context && (!sc_stream_is_gone(stream) || stream->owner);
}

/* Stores the context's streams as far as there is room. Returns how many there are, so that the
 * caller can make room. */
static unsigned collect_locked(const struct walk *walk) SC_REQUIRES(registry_lock)
{
    SC_ASSERT_HELD(&registry_lock);
    unsigned count = 0;
    for (struct sc_stream_record *stream = listing_context(walk->context)->streams; stream;
         stream = stream->next_of_context) {
        if (!is_walked(walk, stream))
            continue;
        SC_ASSERT(stream->id && *stream->link_of_context == stream);
        if (count < walk->room)
            walk->streams[count] = stream;
        count++;
    }
    return count;
}

/* Lists the context's streams, in pages that the caller unmaps; none if there is no memory. Counted
 * and listed under one lock, so that none comes in between. */
static struct walk collect_streams(struct sc_context *context, bool is_whole)
{
    struct walk walk = {.context = context, .is_whole = is_whole};
    SC_LOCKED(&registry_lock);
    unsigned count = collect_locked(&walk);
    walk.streams = count ? sc_pages_map(count * sizeof *walk.streams) : NULL;
    if (walk.streams) {
        walk.room = count;
        walk.count = collect_locked(&walk);
    }
    return walk;
}

/* Calls `visit` for the streams of the context; with `is_whole` also for destroyed ones, and those
 * of its green contexts. They are listed first, since a visit may take the registry's lock. */
static void visit_streams(struct sc_context *context, bool is_whole, sc_visit_stream *visit,
                          void *argument)
{
    struct walk walk = collect_streams(context, is_whole);
    for (unsigned i = 0; i < walk.count; i++)
        visit(argument, walk.streams[i]);
    sc_pages_unmap(walk.streams, walk.room * sizeof *walk.streams);
}

void sc_streams_each(struct sc_context *context, sc_visit_stream *visit, void *argument)
{
    visit_streams(context, /*is_whole=*/false, visit, argument);
}

void sc_streams_each_ever(struct sc_context *context, sc_visit_stream *visit, void *argument)
{
    visit_streams(context, /*is_whole=*/true, visit, argument);
}

/* Removes the handle if it still names the stream of this `life`. Returns whether it did: if
 * several threads find that the stream is gone, one of them ends it. */
static bool remove_name(struct sc_stream_record *stream, uint32_t life, CUstream handle)
{
    SC_LOCKED(&registry_lock);
    bool taken =
        is_of_life(stream, life) &&
        sc_handle_pointer(sc_handles_get(&sc_streams_by_handle, (uintptr_t)handle)) == stream;
    if (taken)
        sc_handles_remove(&sc_streams_by_handle, (uintptr_t)handle);
    return taken;
}

/* Called when the handle of a destroyed stream is used: it names a new stream, for which a record
 * is made. The former stream's record is ended, by one of the threads that find this. */
static struct sc_stream_record *relearn_stream(struct sc_stream_record *former, uint32_t life,
                                               CUstream handle)
{
    if (remove_name(former, life, handle))
        remove_stream(former);
    return learn_stream(handle);
}

/* Called from within the driver when the handle's stream has gone without a wrapper: takes no lock.
 * The next use of the handle finds out what it names. Meanwhile another thread may give the record
 * to another stream, which is not gone: that has another life. */
void sc_streams_renamed(CUstream handle)
{
    struct sc_stream_record *former = sc_streams_find_known(handle);
    uint32_t life = former ? atomic_load(&former->life) : SC_STREAM_GONE;
    if (!(life & SC_STREAM_GONE) && sc_streams_find_known(handle) == former)
        atomic_compare_exchange_strong(&former->life, &life, life | SC_STREAM_GONE);
}

/* Called when the program has created a stream: makes its record, with the call that did so
 * (`origin`). If the handle is known, its former stream was destroyed without a wrapper's
 * notice. */
void sc_streams_created(CUstream handle, uint32_t origin)
{
    sc_streams_renamed(handle);
    const struct sc_stream_record *stream = sc_streams_find(handle, /*per_thread=*/false);
    if (stream)
        SC_TRACKED(sc_order_set_origin(track.order, stream->id, origin));
}

/* The end of a context, and whether its events have ended with it. */
struct context_end {
    const struct sc_context *context;
    bool events_are_dead;
};

/* Notes that the stream is gone with its context; if the events have ended, too, its marks are
 * dropped. Returns the record's life, and stores its handle in *handle. 0: the record is another
 * stream's by now, or of a default stream: a thread removes its own, and a legacy stream stays with
 * its context's record. */
static uint32_t end_life(struct sc_stream_record *stream, const struct context_end *end,
                         CUstream *handle)
{
    SC_LOCKED(&stream->lock);
    if (stream->context != end->context)
        return 0;
    if (end->events_are_dead)
        sc_marks_void_locked(stream);
    set_gone_locked(stream);
    *handle = stream->handle;
    return stream->kind == SC_STREAM_LEGACY || stream->owner ? 0 : stream->life;
}

/* For the walk over streams of a context that has ended, also those that CUPTI has said to be gone:
 * ends one. It was listed before, so another thread may have ended it, and its record may be
 * another stream's. */
static void bury_for_context(void *argument, struct sc_stream_record *stream)
{
    CUstream handle;
    uint32_t life = end_life(stream, argument, &handle);
    if (life && remove_name(stream, life, handle))
        remove_stream(stream);
}

void sc_streams_forget_of(struct sc_context *context, bool events_are_dead)
{
    struct context_end end = {context, events_are_dead};
    sc_streams_each_ever(context, bury_for_context, &end);
}
