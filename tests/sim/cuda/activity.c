/* What the device tells those who want records of its work. */
#include "engine.h"
#include "memory.h"
#include "migrate.h"
#include "sim_hooks.h"

static _Atomic(const struct sim_activity_hooks *) hooks;

void sim_cuda_set_activity(const struct sim_activity_hooks *wanted)
{
    atomic_store(&hooks, wanted);
}

static size_t bytes_of(const struct sim_work *work)
{
    if (work->kind == WORK_COPY)
        return work->copy.width * work->copy.height * work->copy.depth;
    return work->fill.width * work->fill.element * work->fill.height;
}

void sim_activity_issued_locked(CUstream stream, struct sim_op *op)
{
    const struct sim_activity_hooks *to = atomic_load_explicit(&hooks, memory_order_relaxed);
    if (op->work.kind == WORK_KERNEL_TOUCH)
        op->work.touch.device = stream->context->device;
    if (!to || (op->work.kind != WORK_COPY && op->work.kind != WORK_FILL))
        return;
    struct sim_activity activity = {
        .is_memset = op->work.kind == WORK_FILL,
        .bytes = bytes_of(&op->work),
        .device = stream->context->device,
        .context_id = stream->context->id,
        .stream_id = stream->id,
    };
    op->activity = to->issued(&activity);
}

void sim_activity_started(struct sim_op *op)
{
    if (op->activity && !op->start_ns)
        op->start_ns = sim_now_ns();
}

/* What the driver has of a device's memory for others it takes from managed memory. */
void sim_activity_touched(const struct sim_touch *touch)
{
    const struct sim_activity_hooks *to = atomic_load(&hooks);
    struct sim_range range;
    if (!to || !to->managed || touch->bytes == 0)
        return;
    sim_lock();
    sim_memory_find_locked(touch->address, &range);
    size_t room = sim_budget_free_locked(touch->device);
    sim_unlock();
    if (range.kind == MEMORY_MANAGED)
        sim_migrate_touched(&range, touch->address, touch->bytes, touch->device, room, to->managed);
}

/* Hooks that are gone leave the record incomplete for ever, as a process that ends does. */
void sim_activity_done(const struct sim_op *op)
{
    const struct sim_activity_hooks *to = op->activity ? atomic_load(&hooks) : NULL;
    if (to)
        to->done(op->activity, op->start_ns, sim_now_ns());
}
