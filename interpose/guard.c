#include "interpose/guard.h"

#include <errno.h>

#include "interpose/driver.h"
#include "interpose/driver_code.h"
#include "interpose/flow.h"
#include "interpose/mappings.h"
#include "interpose/pinned.h"
#include "interpose/process.h"
#include "interpose/protect.h"
#include "interpose/reaper.h"
#include "interpose/signals.h"
#include "interpose/spare_stack.h"
#include "interpose/unwind.h"
#include "report/report.h"
#include "report/text.h"
#include "track/peek.h"

#include "track/poison.h"

enum { STALE_FAULTS_MAX = 4 };

static struct sc_guards *guards(void)
{
    return &sc_track.inflight.guards;
}

/* ---- the pages ---- */

void sc_guard_apply(void)
{
    if (sc_likely(atomic_load_explicit(&guards()->unsettled_count, memory_order_acquire) == 0))
        return;
    sc_protect_settle();
}

bool sc_guard_overlaps(const void *address, size_t size_bytes)
{
    uintptr_t start = (uintptr_t)address & ~guards()->page_mask;
    size_t whole = size_bytes + ((uintptr_t)address - start);
    return sc_grid_may_overlap(&guards()->grid, start, whole) ||
           sc_grid_may_overlap(&sc_track.inflight.op_grid, (uintptr_t)address, size_bytes) ||
           sc_grid_may_overlap(&sc_track.inflight.heap_grid, (uintptr_t)address, size_bytes) ||
           atomic_load_explicit(&guards()->unsettled_count, memory_order_acquire) != 0;
}

/* ---- fork ---- */

void sc_guard_child(void)
{
    int saved = errno;
    sc_protect_inherited(0);
    errno = saved;
}

/* A child that no handler of ours has run in yet, if any will: _Fork and clone call none. */
static bool is_done_by_child(void)
{
    if (sc_likely(!sc_process_is_child()))
        return false;
    sc_guard_child();
    return true;
}

/* ---- letting go ---- */

void sc_guard_let_go(const void *address, size_t size_bytes)
{
    if (is_done_by_child())
        return;
    sc_track_let_go(&sc_track, (uintptr_t)address, size_bytes ? size_bytes : 1, SC_TOUCH_WRITE,
                    true);
    sc_guard_apply();
}

void sc_guard_release_all(void)
{
    if (is_done_by_child())
        return;
    sc_track_unguard_all(&sc_track);
    sc_guard_apply();
}

/* ---- what is guarded ---- */

/* Memory of the driver's own allocations is plain; a registration may be of anything. */
static bool is_allowed(const struct sc_range_info *range)
{
    if (range->guarding != SC_GUARDING_UNKNOWN)
        return range->guarding == SC_GUARDING_ALLOWED;
    uintptr_t start = range->address & ~guards()->page_mask;
    bool allowed = range->kind == SC_PINNED ||
                   (range->kind == SC_REGISTERED &&
                    sc_mappings_are_plain(start, range->address - start + range->size_bytes));
    sc_track_set_guarding(&sc_track, range->address, range->size_bytes,
                          allowed ? SC_GUARDING_ALLOWED : SC_GUARDING_FORBIDDEN);
    return allowed;
}

/* glibc maps a large block by itself, with a header of 16 bytes before it: no other block lies on
 * its pages. The header says so in bit 1 of the size. */
static bool is_own_mapping(const struct sc_range_info *range)
{
    enum { HEADER_BYTES = 16, IS_MAPPED = 2, FLAGS = 7 };
    size_t header[2];
    uintptr_t page = range->address & ~guards()->page_mask;
    if (range->address - page != HEADER_BYTES || !sc_peek(header, page, sizeof header))
        return false;
    size_t mapped_bytes = header[1] & ~(size_t)FLAGS;
    return header[0] == 0 && (header[1] & FLAGS) == IS_MAPPED &&
           (mapped_bytes & guards()->page_mask) == 0 &&
           mapped_bytes >= HEADER_BYTES + range->size_bytes &&
           mapped_bytes - range->size_bytes <= HEADER_BYTES + guards()->page_mask;
}

/* The pages that hold nothing but the allocation or registration. On others lies memory of which
 * nothing is known: the kernel could be asked at any time to read or write it, and would refuse. */
static void own_pages(const struct sc_range_info *range, uintptr_t *start, uintptr_t *end)
{
    uintptr_t mask = guards()->page_mask;
    bool outward = range->kind == SC_PINNED || is_own_mapping(range);
    *start = (range->address + (outward ? 0 : mask)) & ~mask;
    *end = (range->address + range->size_bytes + (outward ? mask : 0)) & ~mask;
}

/* Half a huge page costs more than a whole one, which is taken where the rest of it is hardly used:
 * padding of the mapping, or what an allocator rounded up to. */
static uintptr_t end_of_huge_page(const struct sc_range_info *range, const struct sc_op_info *op,
                                  uintptr_t own_end, uintptr_t end)
{
    const uintptr_t huge_mask = ((uintptr_t)2 << 20) - 1;
    uintptr_t mapping_end = range->kind == SC_PINNED ? sc_pinned_end(range->address) : 0;
    if (!mapping_end || mapping_end - range->address <= huge_mask)
        return end;
    if (end >= own_end)
        return mapping_end;
    bool most = op->shape.address == range->address &&
                sc_shape_hull_bytes(&op->shape) > range->size_bytes / 2;
    return most ? (end + huge_mask) & ~huge_mask : end;
}

void sc_guard_choose(const struct sc_range_info *range, struct sc_op_info *op)
{
    uintptr_t mask = guards()->page_mask;
    uintptr_t start = op->shape.address & ~mask;
    uintptr_t end = (op->shape.address + sc_shape_hull_bytes(&op->shape) + mask) & ~mask;
    uintptr_t own_start;
    uintptr_t own_end;
    bool guardable = op->direction == SC_H2D || sc_direction_writes_host(op->direction);
    if (!sc_options.guard || !guardable || !is_allowed(range))
        return;
    own_pages(range, &own_start, &own_end);
    op->shares_pages = start < own_start || end > own_end;
    start = start > own_start ? start : own_start;
    end = end < own_end ? end : own_end;
    end = end_of_huge_page(range, op, own_end, end);
    if (start >= end || sc_signals_is_stack(start, end - start) || !sc_reaper_start() ||
        !sc_signals_take_over())
        return;
    op->access = op->direction == SC_H2D ? SC_ACCESS_READ : SC_ACCESS_NONE;
    op->guard_address = start;
    op->guard_bytes = end - start;
}

/* ---- touches ---- */

static enum sc_hazard_code code_of(const struct sc_op_info *op, enum sc_touch touch)
{
    if (!sc_direction_writes_host(op->direction))
        return op->by_graph ? SC403 : SC201;
    return touch == SC_TOUCH_READ ? SC202 : SC203;
}

static void report_each(const struct sc_ops *ops, enum sc_touch touch, enum sc_action action,
                        const struct sc_culprit *culprit)
{
    for (unsigned i = 0; i < ops->count && i < SC_TRACK_OPS_MAX; i++) {
        struct sc_ops one = {.count = 1};
        one.ops[0] = ops->ops[i];
        struct sc_buffer buffer = sc_hazards_buffer_of(&one.ops[0]);
        sc_hazards_report(code_of(&one.ops[0], touch), action, &one, &buffer, culprit);
    }
}

static void say_gave_up(const struct sc_ops *ops)
{
    char line[256];
    struct sc_text text;
    if (sc_options.verbosity < 1)
        return;
    sc_text_init(&text, line, sizeof line);
    sc_text_put(&text, "a touch waited stall_limit for ");
    sc_text_put(&text, ops->ops[0].api);
    sc_text_put(&text, " and was let through: its data may be wrong");
    sc_report_say(NULL, line);
}

/* The reaper asks the device; nothing here does. */
static void wait_for(const struct sc_ops *ops)
{
    struct sc_take_down request = {
        .address = ops->ops[0].shape.address,
        .size_bytes = sc_shape_hull_bytes(&ops->ops[0].shape),
        .kind = SC_HOLD_WAIT,
    };
    sc_track_await(&sc_track, ops, &request);
    if (!request.held || !sc_reaper_wait(&request))
        say_gave_up(ops);
}

/* Host functions run in the order of their stream: what was issued after one comes after what it
 * does. Whether there were such operations is returned. */
static bool drop_later_than_host_function(struct sc_ops *ops)
{
    uint64_t since = sc_flow_host_function_ticks();
    unsigned kept = 0;
    unsigned count = ops->count < SC_TRACK_OPS_MAX ? ops->count : SC_TRACK_OPS_MAX;
    if (since == 0)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (ops->ops[i].ticks < since)
            ops->ops[kept++] = ops->ops[i];
    ops->count = kept;
    return kept < count;
}

/* Of a host function that the driver runs for a graph, and of a user object's destructor, nothing
 * is known: what it touches may be its to touch, by the order of some stream. */
static bool is_in_unknown_function(const struct sc_culprit *culprit)
{
    return sc_flow_host_function_ticks() == 0 &&
           sc_driver_code_called((uintptr_t)culprit->site, culprit->context);
}

/* Until nothing forbids the touch any more. */
static void settle_touch(uintptr_t address, size_t size_bytes, enum sc_touch touch,
                         const struct sc_culprit *culprit)
{
    bool fix = sc_options.mode == SC_MODE_FIX;
    bool ordered = false;
    struct sc_ops ops;
    for (;;) {
        sc_track_touched(&sc_track, address, size_bytes, touch, &ops);
        ordered |= drop_later_than_host_function(&ops);
        if (ops.count == 0)
            break;
        if (is_in_unknown_function(culprit)) {
            ordered = true;
            break;
        }
        report_each(&ops, touch, fix ? SC_ACTION_STALLED : SC_ACTION_REPORTED, culprit);
        if (fix)
            wait_for(&ops);
        sc_track_unguard(&sc_track, &ops);
    }
    sc_track_let_go(&sc_track, address, size_bytes, touch, !ordered);
    sc_guard_apply();
}

/* No span may be left of a page that is about to be let go by the thread that we interrupted: what
 * counts is whether its range is one that gets guarded. Lock-free. */
static bool lies_in_guarded_range(uintptr_t address)
{
    uint32_t id = sc_grid_point(&sc_track.inflight.range_grid, address);
    if (id == 0 || id == SC_GRID_RETRY)
        return id != 0;
    return atomic_load_explicit(&sc_inflight_range(&sc_track.inflight, id)->guarding,
                                memory_order_acquire) == SC_GUARDING_ALLOWED;
}

/* A handler that interrupted us must not wait for what its thread holds. */
static void let_pages_through(uintptr_t address, size_t size_bytes)
{
    uintptr_t mask = guards()->page_mask;
    uintptr_t first = address & ~mask;
    for (uintptr_t page = first; page - first < size_bytes + (address - first); page += mask + 1)
        if (lies_in_guarded_range(page) || lies_in_guarded_range(page | mask))
            sc_protect_let_through(page);
}

void sc_guard_touch(const void *address, size_t size_bytes, enum sc_touch touch,
                    const struct sc_culprit *culprit)
{
    int saved = errno;
    if (sc_track_inside) {
        let_pages_through((uintptr_t)address, size_bytes);
    } else {
        sc_guard_apply();
        if (size_bytes)
            settle_touch((uintptr_t)address, size_bytes, touch, culprit);
    }
    errno = saved;
}

/* ---- faults ---- */

static __thread struct {
    uintptr_t address, pc;
    unsigned count;
} last_fault __attribute__((tls_model("initial-exec")));

/* The same fault again and again, with nothing else in between. */
static bool keeps_coming(const struct sc_fault *fault)
{
    if (last_fault.address != fault->address || last_fault.pc != fault->pc)
        last_fault.count = 0;
    last_fault.address = fault->address;
    last_fault.pc = fault->pc;
    if (++last_fault.count <= STALE_FAULTS_MAX)
        return false;
    last_fault.count = 0;
    return true;
}

/* The page may have been let go between the fault and our look; or it is about to be, by the very
 * thread that this handler interrupted. Of a fault that comes back again and again the kernel is
 * asked: it is the program's own if the page is not to be touched. */
static bool is_stale(const struct sc_fault *fault)
{
    if (!fault->denied || !sc_blocks_may_hold(&guards()->ever, fault->address, 1))
        return false;
    if (!sc_track_inside)
        sc_guard_apply();
    else
        let_pages_through(fault->address, 1);
    if (!keeps_coming(fault))
        return true;
    return sc_track_inside ? sc_mappings_allow(fault->address, fault->write)
                           : sc_protect_is_accessible(fault->address, fault->write);
}

static void settle_fault(void *argument)
{
    const struct sc_fault *fault = argument;
    if (sc_driver_code_runs(fault->pc, fault->context)) {
        sc_guard_let_go((const void *)fault->address, 1);
        return;
    }
    struct sc_culprit culprit = {
        .api = fault->write ? "memory write" : "memory read",
        .site = (void *)fault->pc,
        .context = fault->context,
    };
    settle_touch(fault->address, 1, fault->write ? SC_TOUCH_WRITE : SC_TOUCH_READ, &culprit);
    if (keeps_coming(fault))
        sc_protect_mend(fault->address);
}

bool sc_guard_fault(const struct sc_fault *fault)
{
    int saved = errno;
    if (sc_unlikely(sc_process_is_child())) {
        bool inherited = sc_guard_busy() && sc_protect_inherited(fault->address);
        errno = saved;
        return inherited;
    }
    bool ours = sc_guard_busy() && sc_grid_point(&guards()->grid, fault->address) != 0;
    if (!ours)
        ours = is_stale(fault);
    else if (sc_track_inside)
        sc_protect_let_through(fault->address);
    else
        sc_spare_stack_call(settle_fault, (void *)(uintptr_t)fault);
    errno = saved;
    return ours;
}
