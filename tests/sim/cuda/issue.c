/* Queueing operations and waiting for them. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>

static struct sim_slab ops = {sizeof(struct sim_op), NULL};
static struct sim_slab *const streams = &(struct sim_slab){sizeof(struct CUstream_st), NULL};

struct sim_op *sim_op_new_locked(void)
{
    struct sim_op *op = sim_slab_take_locked(&ops);
    if (op)
        op->fences = op->own_fences;
    return op;
}

void sim_op_free_locked(struct sim_op *op)
{
    for (uint32_t i = 0; i < op->fence_count; i++)
        sim_stream_unref_locked(op->fences[i].stream);
    if (op->fences != op->own_fences)
        free(op->fences);
    if (op->work.kind == WORK_COPY)
        free(op->work.copy.staged);
    else if (op->work.kind == WORK_MARK)
        sim_record_unref_locked(op->work.record);
    sim_slab_give_locked(&ops, op);
}

int sim_op_fence_locked(struct sim_op *op, CUstream stream, uint64_t seq)
{
    uint32_t n = op->fence_count;
    if (sim_stream_reached(stream, seq))
        return 0;
    /* Room grows at powers of two, from the two places within the operation. */
    if (n >= 2 && (n & (n - 1)) == 0) {
        struct sim_fence *grown = malloc(2 * n * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        for (uint32_t i = 0; i < n; i++)
            grown[i] = op->fences[i];
        if (op->fences != op->own_fences)
            free(op->fences);
        op->fences = grown;
    }
    sim_stream_ref_locked(stream);
    op->fences[op->fence_count++] = (struct sim_fence){stream, seq};
    return 0;
}

/* The legacy stream waits for all blocking streams of its context, and they wait for it. */
static void join_locked(CUstream stream, struct sim_op *op)
{
    CUcontext context = stream->context;
    if (stream->legacy) {
        if (stream->blocking_seen == context->blocking_issues)
            return; /* nothing new since the legacy operation before, and that one waited */
        stream->blocking_seen = context->blocking_issues;
        for (CUstream s = context->streams; s; s = s->next)
            if (s->blocking && s != stream)
                sim_op_fence_locked(op, s, s->issued);
    } else if (stream->blocking) {
        CUstream legacy = context->legacy;
        context->blocking_issues++;
        if (legacy && legacy->waited_for > stream->legacy_seen) {
            stream->legacy_seen = legacy->waited_for;
            sim_op_fence_locked(op, legacy, legacy->waited_for);
        }
    }
}

static void pass_gate_locked(CUstream stream, struct sim_op *op, CUstream gate)
{
    if (gate && gate != stream && !sim_stream_reached(gate, gate->issued))
        sim_op_fence_locked(op, gate, gate->issued);
}

/* What its context waits for, or the primary one of it, a stream does not know of before this. */
static void pass_gates_locked(CUstream stream, struct sim_op *op)
{
    CUcontext context = stream->context;
    if (context) /* or the stream is of no context's */
        pass_gate_locked(stream, op, context->gate);
    CUcontext home = context ? sim_context_home_locked(context) : NULL;
    if (home && home != context)
        pass_gate_locked(stream, op, home->gate);
}

static bool is_closed(CUstream gate)
{
    return gate && !sim_stream_reached(gate, gate->issued);
}

static bool follows_legacy(CUstream stream)
{
    CUstream legacy = stream->blocking && !stream->legacy ? stream->context->legacy : NULL;
    return legacy && legacy->waited_for > stream->legacy_seen &&
           !sim_stream_reached(legacy, legacy->waited_for);
}

bool sim_stream_is_held_up_locked(CUstream stream)
{
    CUcontext home = stream->context ? sim_context_home_locked(stream->context) : NULL;
    return home &&
           (is_closed(stream->context->gate) || is_closed(home->gate) || follows_legacy(stream));
}

void sim_op_come_after_locked(struct sim_op *op, CUstream stream)
{
    CUcontext context = stream->context;
    sim_op_fence_locked(op, stream, stream->issued);
    if (stream->blocking && !stream->legacy && context->legacy)
        sim_op_fence_locked(op, context->legacy, context->legacy->waited_for);
    for (CUstream s = stream->legacy ? context->streams : NULL; s; s = s->next)
        if (s->blocking && s != stream)
            sim_op_fence_locked(op, s, s->issued);
}

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void set_times(CUstream stream, struct sim_op *op)
{
    uint64_t delay = sim_options.delay_ns;
    op->busy_ns = sim_work_busy_ns(&op->work);
    if (op->work.kind == WORK_MARK || (delay == 0 && !sim_options.late))
        return;
    if (sim_options.seed && delay)
        delay = mix(mix(sim_options.seed ^ (stream->id << 32)) + op->seq) % (2 * delay + 1);
    uint64_t now = sim_now_ns();
    op->due_ns = now + delay * (1 + op->work.delays);
    op->limit_ns = now + sim_options.late_limit_ns;
}

/* A marker behind work that is done is reached within the call, as on an H200: also where the
 * thread that did the work has not taken note of it yet. Nothing else moves the stream's `done`
 * then. */
static bool is_reached_at_once(CUstream stream, const struct sim_op *op)
{
    return op->work.kind == WORK_MARK && op->fence_count == 0 &&
           sim_stream_reached(stream, op->seq - 1);
}

static void finish_marker_locked(CUstream stream, struct sim_op *op)
{
    sim_work_run(&op->work);
    sim_engine_publish(stream, op->seq);
    sim_op_free_locked(op);
}

uint64_t sim_stream_issue_locked(CUstream stream, struct sim_op *op)
{
    uint64_t seq = op->seq = ++stream->issued;
    if (!op->is_nothing)
        stream->waited_for = seq;
    join_locked(stream, op);
    if (!op->is_wait)
        pass_gates_locked(stream, op);
    set_times(stream, op);
    sim_activity_issued_locked(stream, op);
    if (is_reached_at_once(stream, op)) {
        finish_marker_locked(stream, op);
        return seq;
    }
    op->next = NULL;
    if (stream->head)
        stream->tail->next = op;
    else
        stream->head = op;
    stream->tail = op;
    if (stream->state == STREAM_IDLE) {
        sim_stream_ref_locked(stream);
        sim_engine_advance_locked(stream);
    }
    return seq;
}

static void sleep_until_done(CUstream stream, uint64_t seq)
{
    atomic_fetch_add(&stream->waiters, 1);
    for (;;) {
        uint32_t epoch = atomic_load(&stream->epoch);
        if (atomic_load(&stream->done) >= seq)
            break;
        sim_futex_wait(&stream->epoch, epoch, UINT64_MAX);
    }
    atomic_fetch_sub(&stream->waiters, 1);
}

void sim_stream_wait_locked(CUstream stream, uint64_t seq)
{
    if (sim_stream_reached(stream, seq))
        return;
    sim_stream_ref_locked(stream);
    sim_stream_force_locked(stream, seq);
    sim_unlock();
    sleep_until_done(stream, seq);
    sim_lock();
    sim_stream_unref_locked(stream);
}

/* Which streams a wait is for: those of a device, of a context, or the ones of a context that the
 * legacy stream speaks for. */
struct scope {
    CUdevice device;
    CUcontext only;
    bool legacy;
};

static bool in_scope(CUstream stream, const struct scope *scope)
{
    return !scope->legacy || stream->legacy || stream->blocking;
}

/* A wait for the primary context is one for its green ones as well. */
static bool context_in_scope(CUcontext context, const struct scope *scope)
{
    if (!scope->only)
        return context->device == scope->device;
    return context == scope->only ||
           (!scope->legacy && sim_context_home_locked(context) == scope->only);
}

static size_t pending_locked(const struct scope *scope, struct sim_fence *out, size_t room)
{
    size_t count = 0;
    for (CUcontext c = sim_contexts; c; c = c->next) {
        if (!context_in_scope(c, scope))
            continue;
        for (CUstream s = c->streams; s; s = s->next) {
            if (!in_scope(s, scope) || sim_stream_reached(s, s->issued))
                continue;
            if (count < room) {
                out[count] = (struct sim_fence){s, s->issued};
                sim_stream_ref_locked(s);
            }
            count++;
        }
    }
    return count;
}

static void wait_locked(const struct scope *scope)
{
    size_t count = pending_locked(scope, NULL, 0);
    struct sim_fence *fences = count ? calloc(count, sizeof *fences) : NULL;
    if (!fences)
        return;
    count = pending_locked(scope, fences, count);
    for (size_t i = 0; i < count; i++)
        sim_stream_force_locked(fences[i].stream, fences[i].seq);
    for (size_t i = 0; i < count; i++) {
        sim_stream_wait_locked(fences[i].stream, fences[i].seq);
        sim_stream_unref_locked(fences[i].stream);
    }
    free(fences);
}

void sim_device_wait_locked(CUdevice device, CUcontext only)
{
    wait_locked(&(struct scope){.device = device, .only = only});
}

void sim_stream_wait_all_locked(CUstream stream)
{
    if (stream->legacy)
        wait_locked(&(struct scope){.only = stream->context, .legacy = true});
    else
        sim_stream_wait_locked(stream, stream->issued);
}

bool sim_stream_idle_locked(CUstream stream)
{
    const struct scope scope = {.only = stream->context, .legacy = true};
    return stream->legacy ? pending_locked(&scope, NULL, 0) == 0
                          : sim_stream_reached(stream, stream->issued);
}

bool sim_stream_has_queue_locked(CUstream stream)
{
    if (sim_stream_reached(stream, stream->issued))
        return false;
    if (stream->state == STREAM_RUNNING)
        return true; /* what runs is in the list no more */
    for (const struct sim_op *op = stream->head; op; op = op->next)
        if (op->work.kind != WORK_MARK || op->is_wait || stream->legacy)
            return true;
    return false;
}

bool sim_stream_follow_serialized_locked(CUstream stream)
{
    const struct sim_fence *copy = &stream->context->serialized;
    if (!copy->stream || sim_stream_reached(copy->stream, copy->seq))
        return true;
    struct sim_op *op = sim_op_new_locked();
    if (!op || sim_op_fence_locked(op, copy->stream, copy->seq) != 0)
        return false;
    op->is_wait = true;
    sim_stream_issue_locked(stream, op);
    return true;
}

CUstream sim_stream_new_locked(CUcontext context, unsigned flags, int priority)
{
    static unsigned long long ids;
    CUstream s = sim_slab_take_locked(streams);
    if (s) {
        s->magic = MAGIC_STREAM;
        s->context = context;
        s->flags = flags;
        s->priority = priority;
        s->blocking = !(flags & CU_STREAM_NON_BLOCKING);
        s->id = ++ids;
        s->refs = 1;
        s->next = context->streams;
        if (s->next)
            s->next->prev = s;
        context->streams = s;
        sim_stream_follow_serialized_locked(s);
    }
    return s;
}

void sim_stream_ref_locked(CUstream stream)
{
    stream->refs++;
}

void sim_stream_unref_locked(CUstream stream)
{
    if (--stream->refs > 0)
        return;
    if (stream->next)
        stream->next->prev = stream->prev;
    if (stream->prev)
        stream->prev->next = stream->next;
    else if (stream->context)
        stream->context->streams = stream->next;
    free(stream->capture_deps);
    stream->magic = 0;
    sim_slab_give_locked(streams, stream);
}
