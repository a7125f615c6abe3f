/*
 * The simulated device: one thread that runs queued operations in the order that streams, events
 * and times allow, and a pool of threads for host functions, which may block as long as they like.
 *
 * An operation may start when the one before it in its stream is done, its fences are reached, and
 * its time has come: `delay` after its issue, or, with late=1, when a waiting thread forces it or
 * late_limit has passed. Markers (event records, waits) take no time of their own.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim.h"
#include "work.h"

struct sim_op {
    struct sim_op *next;
    uint64_t seq;
    uint64_t due_ns;     /* not before this */
    uint64_t limit_ns;   /* late=1: not after this, forced or not */
    uint64_t busy_ns;    /* how long it occupies its stream; its effect comes at the end */
    uint64_t waiting_ns; /* since when it waits for a value; 0: it does not */
    bool started;
    uint64_t start_ns; /* where an activity record is wanted */
    void *activity;    /* of activity.c; NULL: no record is wanted */
    bool is_wait;      /* for an event: it does not join what its context waits for */
    bool is_nothing;   /* in the legacy stream: blocking ones do not wait for it */
    uint32_t fence_count;
    struct sim_fence *fences; /* own_fences, or malloc'ed */
    struct sim_fence own_fences[2];
    struct sim_work work;
};

/* An operation with its work zeroed; NULL without memory. */
struct sim_op *sim_op_new_locked(void);
/* Makes the operation wait for the fence. 0 or -ENOMEM. */
int sim_op_fence_locked(struct sim_op *op, CUstream stream, uint64_t seq);

/* Would an operation wait for something that the stream does not know of yet? For what its context,
 * or the primary one, waits for, or a blocking one for the legacy stream. */
bool sim_stream_is_held_up_locked(CUstream stream);
/* Makes an operation of another stream wait for all that one of this stream would wait for. */
void sim_op_come_after_locked(struct sim_op *op, CUstream stream);

/* Queues the operation behind all that it must wait for by the rules of its stream; returns its
 * place in the stream. The operation belongs to the engine from here on. */
uint64_t sim_stream_issue_locked(CUstream stream, struct sim_op *op);

/* Waits until the stream has done seq, forcing it in late mode. Drops the lock meanwhile. */
void sim_stream_wait_locked(CUstream stream, uint64_t seq);
/* The same for all work that the context (or, NULL, any context of the device) has queued now. */
void sim_device_wait_locked(CUdevice device, CUcontext only);

/* Whether the stream has work left, and waiting until it has none of what it has now. The legacy
 * stream answers for the blocking streams of its context, too. */
bool sim_stream_idle_locked(CUstream stream);
void sim_stream_wait_all_locked(CUstream stream);
/* Whether there is anything in the stream itself: work, a wait, or in a legacy stream the record of
 * an event. */
bool sim_stream_has_queue_locked(CUstream stream);

static inline bool sim_stream_reached(CUstream stream, uint64_t seq)
{
    return atomic_load_explicit(&stream->done, memory_order_acquire) >= seq;
}

/* Marks everything up to seq as wanted now, and what it depends on. */
void sim_stream_force_locked(CUstream stream, uint64_t seq);

/* A stream with one reference, its handle's, in its context's list; NULL without memory. */
CUstream sim_stream_new_locked(CUcontext context, unsigned flags, int priority);
/* The stream waits for the last copy that its context is in order with. False: there is no memory.
 */
bool sim_stream_follow_serialized_locked(CUstream stream);
void sim_stream_ref_locked(CUstream stream);
void sim_stream_unref_locked(CUstream stream);

void sim_record_unref_locked(struct sim_record *record); /* event.c; NULL is allowed */

/* activity.c: tells whom sim_hooks.h lets know of it. A copy's or memset's issue, with the lock;
 * the moment when it starts, and when it has ended, without. */
void sim_activity_issued_locked(CUstream stream, struct sim_op *op);
void sim_activity_started(struct sim_op *op);
void sim_activity_done(const struct sim_op *op);
/* A kernel touches managed memory; without the lock. */
void sim_activity_touched(const struct sim_touch *touch);

/* Used between engine.c, issue.c and hostfn.c only. */
void sim_engine_advance_locked(CUstream stream);
void sim_engine_completed_locked(CUstream stream);
void sim_engine_publish(CUstream stream, uint64_t seq);
void sim_hostfn_submit_locked(CUstream stream);
void sim_hostfn_add_thread(void);
/* With the signals of faults alone. False: no thread was to be had. */
bool sim_start_thread(void *(*main)(void *));
void sim_op_free_locked(struct sim_op *op);
void sim_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t until_ns);
void sim_futex_wake(_Atomic uint32_t *word);

/* Starts the device, with all the threads that most programs need, if it is not running. False: no
 * thread was to be had. */
bool sim_engine_start_locked(void);

/* Stops running operations and waits, briefly, for the one that runs: for process exit. */
void sim_engine_stop(void);

#endif
