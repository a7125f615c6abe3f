/* Records of the driver's contexts.
 *
 * A context gets a record at the first use of one of its streams. The tracker's id of the context
 * is that of its legacy stream. Records are never freed, since streams point to them.
 *
 * Lock: one for all contexts. It is taken after a stream's lock, and before the lock of the
 * streams' registry (interpose/streams/streams.h). No hook of libc takes it. Thread-safe; in a
 * signal handler only functions that say "lock-free". */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   complete: finished by the device, whether or not the program knows
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   hook: our function in the place of one of the C library's
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   marker stream: a stream of the library's, on which marks follow the legacy stream's work
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_STREAMS_CONTEXTS_H
#define SC_INTERPOSE_STREAMS_CONTEXTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/brief_lock.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/unfinished_times.h"

struct sc_limit_event;
struct sc_stream_record;
struct sc_staging_of_context;
struct sc_edges_of_context;

/* What marks.c keeps for a context. A mark is an event of the library's that shows when operations
 * are complete (marks.h). */
struct sc_context_marks {
    /* A blocking stream of the library's: an event on it comes after the legacy stream's work. */
    _Atomic(CUstream) marker;
    _Atomic uint64_t outlived_ticks; /* when a blocking stream of the context was last destroyed */
    /* an event on the marker stream may come after work that the legacy stream does not wait for,
     * so it may occur later than the legacy stream's work is done */
    _Atomic bool awaits;
};

/* Events that marks no longer need, kept for the next marks. The lock is a leaf. */
enum { SC_SPARE_EVENTS_MAX = 256 };
struct sc_spare_events {
    struct sc_brief_lock lock;
    unsigned count;
    /* room for SC_SPARE_EVENTS_MAX events; NULL: none was kept yet, or the context has ended */
    CUevent *events;
};

/* What a context needs for detours: operations on its legacy stream that are made in a private
 * stream while a blocking stream captures (interpose/capture/detours.h). Guarded by its lock. */
struct sc_context_detours {
    pthread_mutex_t lock;
    struct sc_stream_record *stream;
    CUevent before, after;
    /* For queries of the legacy stream during a capture: an event after that stream's work, and the
     * time of the last of that work. */
    CUevent query_event;
    uint64_t query_ticks;
    struct sc_context *next; /* the next context that has a private stream; set once */
};

/* What the library knows of one context of the driver's. Never freed. */
struct sc_context {
    CUcontext handle;
    CUdevice device;
    uint32_t legacy; /* the tracker's id of the context: that of its legacy stream */
    struct sc_stream_record *legacy_stream;
    bool reads_pageable; /* the device reads pageable memory itself, without staging */
    bool shares_managed; /* the host may access managed memory while the device works */
    /* It may be a green context. Such a context can end while its streams still have work; its
     * primary context stays. */
    bool may_be_green;
    struct sc_context *primary; /* NULL: the context is not a green one, or not known to be */
    _Atomic bool gone;          /* the context has ended */
    _Atomic bool lost;          /* the program knows that no work of the context runs any more */
    /* how many calls are under way that may end the context: meanwhile the library makes no call in
     * it */
    _Atomic unsigned quiet;
    /* The call that fixed the size of the context's heap; NULL: not known. */
    _Atomic(const struct sc_limit_event *) heap_user;
    struct sc_context_unfinished unfinished;
    _Atomic(struct sc_staging_of_context *) staging;
    _Atomic(struct sc_edges_of_context *) breakable;
    struct sc_context_detours detours;
    struct sc_context_marks marks;
    struct sc_spare_events spare_events;
    /* The records of its streams and of those of its green contexts, also of destroyed streams. A
     * list of streams.c, guarded by the registry's lock. */
    struct sc_stream_record *streams;
};

int sc_contexts_init(void); /* 0 or -ENOMEM */

/* Returns the record of the calling thread's current context, made at its first use. NULL: the
 * thread has none, or there is no memory. */
struct sc_context *sc_contexts_current(void);

/* Returns the record of a live context; makes one if there is none. The context need not be
 * current: the driver accepts work on streams of a context that was never made current. */
struct sc_context *sc_contexts_of(CUcontext handle);

/* Returns the context to which memory belongs that is allocated now, and for which frees wait: the
 * current context, or the primary one of a green context. */
struct sc_context *sc_contexts_of_memory(void);

/* Returns the record of the context if it has one, or NULL. One that has ended may still be found.
 * Does not call the driver; lock-free. */
struct sc_context *sc_contexts_known(CUcontext handle);

/* Returns the context that a call names, where a `handle` of NULL names the current one. NULL: that
 * context has no record yet. */
struct sc_context *sc_contexts_named(CUcontext handle);

/* Called when the program was given an error after which the current context, or its memory, is
 * unusable: nothing runs there any more. Takes no lock. */
void sc_contexts_note_lost(void);

/* Returns true if the context of this stream is unusable since an error that the program knows of.
 * Then to free memory is no hazard. `stream`: the tracker's id. Lock-free; does not call the
 * driver. */
bool sc_contexts_has_lost(uint32_t stream);

/* Returns the primary context of the device if it is alive and has a record, or NULL. */
CUcontext sc_contexts_primary(CUdevice device);

/* Called when a context of the device was made, also one without a record, for
 * sc_contexts_only_device. Lock-free. */
void sc_contexts_made_on(CUdevice device);

/* Returns the only device that ever had a context, as far as the library knows; -1: there is none,
 * or several. Lock-free. */
int sc_contexts_only_device(void);

/* Returns a known context of the device that no call is about to end; NULL: there is none. Does not
 * call the driver: to retain the primary context would show up as another user of it when the
 * device is reset. */
struct sc_context *sc_contexts_on(CUdevice device);

/* Returns a context of the device whose memory lies at the address, preferably the one in which the
 * memory was allocated. NULL: not known, or only contexts of one device are known. */
struct sc_context *sc_contexts_at(CUdeviceptr address);

/* Makes the context current around driver calls of the library's, until sc_contexts_pop. Returns
 * false, and changes nothing, if the context has ended. */
bool sc_contexts_push(struct sc_context *context);
void sc_contexts_pop(void);

/* Returns the handle of a green context as that of a context: the driver has one for both
 * (docs/driver.md). */
static inline CUcontext sc_contexts_of_green(CUgreenCtx green)
{
    return (CUcontext)(void *)green;
}

/* Returns true if a call is under way that may end the context, or its primary context: meanwhile
 * other threads make no driver calls of the library's in it. The program's own work there goes on:
 * a thread that issues it knows that the call does not end the context. */
static inline bool sc_contexts_is_quiet(const struct sc_context *context)
{
    return atomic_load(&context->quiet) != 0 ||
           (context->primary && atomic_load(&context->primary->quiet) != 0);
}

/* Returns true if the context's events have ended with it, so that they must not be queried or
 * destroyed. Those of a green context live as long as its primary context. */
static inline bool sc_contexts_events_are_dead(const struct sc_context *context)
{
    return atomic_load_explicit(context->primary ? &context->primary->gone : &context->gone,
                                memory_order_acquire);
}

/* Called around the driver's call that ends a context (calls/context_calls.c). take removes the
 * context of the handle from the table, since another context may have that handle before the call
 * returns. take_one removes a green context of the primary one, or with NULL a context that has
 * ended. They return NULL if there is none. put_back restores it, if the driver did not end it. */
struct sc_context *sc_contexts_take(CUcontext handle);
struct sc_context *sc_contexts_take_one(const struct sc_context *primary);
void sc_contexts_put_back(struct sc_context *context);

#endif
