#include "interpose/guard/touches.h"

#include "common/hazard_words.h"
#include "common/now.h"
#include "common/own_lock.h"
#include "common/pages.h"
#include "common/shape.h"
#include "common/ticks.h"
#include "common/trace.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/operands.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/base/warning.h"
#include "interpose/driver/driver_code.h"
#include "interpose/guard/atomic_stores.h"
#include "interpose/guard/door.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/neighbours.h"
#include "interpose/guard/page_access.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/reach.h"
#include "interpose/guard/steps.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/reaper/reaper.h"
#include "interpose/signals/single_step.h"
#include "interpose/signals/upwards.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/streams.h"
#include "report/options.h"
#include "track/blocks.h"
#include "track/grid.h"
#include "track/guarded.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/inflight_calls.h"
#include "track/kept_off.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_holds.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum { SLICE_NS = 1000 * 1000, FAULTS_BEFORE_MENDING = 4, LOOKS_MAX = 1000 };

static struct sc_spans *guards(void)
{
    return sc_track_parts.guards;
}

static bool is_covered(uintptr_t address)
{
    return sc_grid_find_at(&guards()->grid, address) != 0;
}

/* A touch on its way through the steps that handle it. It lies on the toucher's own stack, and must
 * stay small. */
struct touch {
    uintptr_t address;
    size_t size_bytes;
    size_t unsure_bytes; /* it may go so far; 0: it is known */
    enum sc_touch kind;
    const struct sc_culprit *culprit;
    const struct sc_fault *fault; /* NULL: a call's */
    bool is_programs;             /* result: the fault is the program's own */
    bool is_unjudged;             /* since it is not known how far it goes */
    bool is_stepped;              /* result: the page is closed again behind the instruction */
    bool gives_up;                /* stall_limit has passed */
    bool may_not_wait;            /* the reaper waits for what the interrupted call has locked */
    bool is_excused;              /* what forbids it is behind a function that waits for us */
    bool is_behind_function;      /* or may be */
    bool lets_kernels_go_on;      /* one that forbids it is found to wait for the program */
    bool is_stuck;                /* result: a kernel that forbids it may be such a one */
    uint32_t kernel_stream;       /* of a kernel that forbids it; 0: none does */
    struct sc_excuses_stand kernel_stand;
    uint32_t hold; /* result: it has to end first; 0: none */
    uint64_t hold_age;
    struct sc_ticket awaited; /* the first of those that it waits for, and when it was issued */
    uint64_t awaited_ticks;
};

/* Since when this thread has waited to touch an address: signals may interrupt it again and again.
 */
static __thread struct {
    uintptr_t address;
    uint64_t since_ns;
} stalled __attribute__((tls_model("initial-exec")));

/* ---- reporting ---- */

/* Reports a hazard for each of the operations. The thread counts as accused only when the hazard is
 * on its way, since this step may be left in its midst (sc_spare_stack_try) and be repeated. */
static void report_each(const struct sc_ops *ops, const struct touch *touch)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        struct sc_ops one = sc_ops_view_one(ops, i);
        enum sc_action action =
            sc_hazards_heals(&one.ops[0]) ? SC_ACTION_STALLED : SC_ACTION_REPORTED;
        struct sc_buffer buffer = sc_hazards_buffer_of(&one.ops[0]);
        sc_hazards_report_touch(sc_hazards_touch_code(&one.ops[0], touch->kind), action, &one,
                                &buffer, touch->culprit);
        SC_TRACKED(sc_guarded_accuse(track.inflight, &one, sc_thread_id()));
    }
}

static void say_gave_up(const struct sc_ops *ops)
{
    sc_warning_say("a touch waited stall_limit for %s and was let through: its data may be wrong",
                   ops->ops[0].api);
}

/* ---- who never waits ---- */

/* If the touch is made by a host function: removes the operations that were issued after it, since
 * they cannot begin before it returns. True: there were some. */
static bool drop_later_than_host_function(struct sc_ops *ops)
{
    uint64_t since = sc_host_functions_own_ticks();
    unsigned kept = 0;
    unsigned count = sc_ops_count_kept(ops);
    if (since == 0)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (ops->ops[i].ticks < since)
            ops->ops[kept++] = ops->ops[i];
    ops->count = kept;
    return kept < count;
}

/* Is the touch made by a function of which no call tells when it runs: a host node of a graph, or a
 * user object's destructor? It may well be ordered behind the operation, so nobody is accused. */
static bool is_in_unknown_function(const struct sc_culprit *culprit)
{
    return sc_host_functions_own_ticks() == 0 &&
           sc_driver_code_has_called((uintptr_t)culprit->site, culprit->context);
}

/* ---- host functions that wait for the program ---- */

/* Removes the operations for which the predicate holds. */
static void drop_each(struct sc_ops *ops, bool is_dropped(const struct sc_op_info *op))
{
    unsigned kept = 0;
    unsigned count = sc_ops_count_kept(ops);
    for (unsigned i = 0; i < count; i++)
        if (!is_dropped(&ops->ops[i]))
            ops->ops[kept++] = ops->ops[i];
    ops->count = kept;
}

/* Does each of the operations stand behind a host function that waits for the program? Then the
 * touch may be what the function waits for, and is excused. */
static bool excuses_all(const struct sc_ops *ops)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        if (!sc_host_functions_excuses(&ops->ops[i], sc_ticks()))
            return false;
    return ops->ops != NULL;
}

/* May one of the operations stand behind a host function that is still running? */
static bool are_open(const struct sc_ops *ops)
{
    bool are = false;
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        are |= sc_host_functions_are_open(&ops->ops[i]);
    return are;
}

/* The same as excuses_all, and what it has found is kept in `touch`. Without mode=fix nobody waits,
 * so the functions are looked at now. */
static bool are_excused(const struct sc_ops *ops, struct touch *touch)
{
    touch->is_behind_function = are_open(ops);
    if (touch->is_behind_function && sc_options.mode != SC_MODE_FIX)
        sc_host_functions_poll(0);
    touch->is_excused = touch->is_behind_function && excuses_all(ops);
    return touch->is_excused;
}

static void give_no_verdict(enum sc_no_verdict_reason reason)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_TOUCHES, reason, 1);
}

/* Ends the guard of these operations, and counts the touch as one without a verdict. */
static void leave_unwatched(const struct sc_ops *ops)
{
    SC_TRACKED(sc_guarded_end(track.inflight, ops));
    give_no_verdict(SC_NO_VERDICT_HOST_FUNCTION);
}

/* ---- kernels ---- */

/* Ends the guard of operation `i`, and removes it from the list. */
static void drop_op(struct sc_ops *ops, unsigned i)
{
    struct sc_ops one = sc_ops_view_one(ops, i);
    SC_TRACKED(sc_guarded_end(track.inflight, &one));
    ops->ops[i] = ops->ops[--ops->count];
}

/* Is one of the operations a use that may not happen, as a kernel's use of an address among its
 * parameters? */
static bool has_kernel(const struct sc_ops *ops)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        if (sc_ops_is_possible(&ops->ops[i]))
            return true;
    return false;
}

/* Removes possible uses (of kernels, or in bodies of graphs) that the touch need not wait for:
 * those that the options do not heal, and those of kernels that wait for this very touch. For the
 * latter the page is never guarded again, since host and kernel talk by it. */
static void leave_kernels(struct sc_ops *ops, struct touch *touch)
{
    touch->kernel_stream = 0;
    ops->count = sc_ops_count_kept(ops);
    for (unsigned i = ops->count; i-- > 0;) {
        const struct sc_op_info *op = &ops->ops[i];
        if (!sc_ops_is_possible(op))
            continue;
        if (touch->lets_kernels_go_on) {
            sc_excuses_kernel_waits(&op->ticket);
            sc_kept_off_add(sc_track_parts.kept_off, op->shape.address & ~guards()->page_mask);
        }
        if (touch->lets_kernels_go_on || !sc_hazards_heals(op))
            drop_op(ops, i);
        else
            touch->kernel_stream = op->ticket.stream;
    }
}

/* Removes the kernels that the program talks with by this touch: it is an atomic instruction, or
 * the kernel is known to wait for the host. True: there were some. */
static bool leave_those_talked_with(struct sc_ops *ops, const struct touch *touch)
{
    unsigned before = ops->count = sc_ops_count_kept(ops);
    if (!has_kernel(ops))
        return false;
    bool is_atomic = touch->fault && sc_atomic_stores_is_one(touch->fault->pc);
    for (unsigned i = ops->count; i-- > 0;)
        if (sc_ops_is_possible(&ops->ops[i]) &&
            (is_atomic || sc_excuses_kernel_is_waiting(&ops->ops[i].ticket)))
            drop_op(ops, i);
    return ops->count < before;
}

/* Has the kernel that forbids the touch made no progress for so long that it may wait for the
 * touch? */
static void look_whether_stuck(struct touch *touch)
{
    if (touch->is_behind_function)
        touch->kernel_stand.since_ns = 0;
    touch->is_stuck = touch->kernel_stream && !touch->is_behind_function &&
                      sc_excuses_kernel_is_stuck(&touch->kernel_stand, touch->kernel_stream);
}

/* ---- handling, a step at a time ---- */

/* Must this touch go on at once, with the data as they are? */
static bool never_waits(const struct touch *touch)
{
    return sc_options.mode != SC_MODE_FIX || touch->gives_up || touch->may_not_wait ||
           sc_reaper_has_stopped();
}

/* Makes a hold on the memory of the first operation, which ends when the reaper has seen the
 * operations done; the touch waits for that. False: they are done. */
static bool await(const struct sc_ops *ops, struct touch *touch)
{
    SC_TAKE_DOWN request = {
        .address = ops->ops[0].shape.address,
        .size_bytes = sc_shape_hull_bytes(&ops->ops[0].shape),
        .kind = SC_HOLD_WAIT,
    };
    sc_track_add_wait(&sc_track, ops, &request);
    if (!request.held)
        return false;
    touch->awaited = ops->ops[0].ticket;
    touch->awaited_ticks = ops->ops[0].ticks;
    touch->hold = request.held;
    touch->hold_age = request.held_age;
    if (!touch->is_behind_function)
        SC_TRACKED(sc_guarded_note_awaited(track.inflight, &ops->ops[0].ticket));
    sc_reaper_wake();
    return true;
}

/* Does the touch have to wait for the operations that forbid it? Ends the guard of those that are
 * complete, and of all if it need not wait. */
static bool must_wait_for(struct sc_ops *ops, struct touch *touch)
{
    if (never_waits(touch)) {
        if (touch->gives_up)
            say_gave_up(ops);
        SC_TRACKED(sc_guarded_end(track.inflight, ops));
        return false;
    }
    SC_TRACKED(sc_guarded_end_complete(track.inflight, ops));
    leave_kernels(ops, touch);
    if (ops->count == 0)
        return false;
    bool waits = await(ops, touch);
    if (!waits)
        SC_TRACKED(sc_guarded_end(track.inflight, ops));
    return waits;
}

/* Does the touch, which is beside the bytes of what is in flight, wait all the same? A page is
 * opened as a whole, and a program that has waited goes on to the bytes beside: the next result,
 * the next row. What may wait for the program itself is not waited for. */
static bool must_wait_beside(struct touch *touch)
{
    SC_OPS(beside);
    if (never_waits(touch))
        return false;
    SC_TRACKED(sc_guarded_find_beside_touch(track.inflight, touch->address, touch->size_bytes,
                                            touch->kind, &beside));
    drop_later_than_host_function(&beside);
    drop_each(&beside, sc_host_functions_are_open);
    touch->is_behind_function = false;
    return beside.count > 0 && await(&beside, touch);
}

/* Does a touch of unknown length, which begins beside and may reach into what is in flight, have to
 * wait? Nobody is accused of it. */
static bool must_wait_unsure(struct touch *touch)
{
    SC_OPS(found);
    if (touch->unsure_bytes == 0)
        return false;
    SC_TRACKED(sc_guarded_find_touched(track.inflight, touch->address, touch->unsure_bytes,
                                       touch->kind, &found));
    drop_later_than_host_function(&found);
    drop_each(&found, sc_ops_is_possible);
    if (found.count == 0)
        return false;
    if (!touch->is_unjudged)
        give_no_verdict(SC_NO_VERDICT_NEIGHBOURS);
    touch->is_unjudged = true;
    if (touch->gives_up)
        say_gave_up(&found);
    if (is_in_unknown_function(touch->culprit) || are_excused(&found, touch) || never_waits(touch))
        return false;
    SC_TRACKED(sc_guarded_end_complete(track.inflight, &found));
    return found.count > 0 && await(&found, touch);
}

/* Ends the guard of the touched bytes' pages. Returns whether an operation still forbade such a
 * touch of the page. */
static bool end_watch(const struct touch *touch, bool in_order)
{
    enum sc_no_verdict_reason why = touch->fault ? SC_NO_VERDICT_NEIGHBOURS : SC_NO_VERDICT_KERNEL;
    SC_TRACK_SCOPE(track);
    bool was_watched = sc_inflight_watches_page(track.inflight, touch->address, touch->kind);
    sc_guarded_let_go(track.inflight, touch->address, touch->size_bytes, touch->kind, !in_order,
                      why);
    return was_watched;
}

/* Unprotects the page, and counts a touch beside what is in flight (neighbours.h). */
static void let_page_go(const struct touch *touch, bool in_order, bool beside)
{
    SC_TRACE("let-go address", touch->address);
    if (end_watch(touch, in_order) && beside)
        sc_neighbours_note_touch(touch->address);
    sc_guard_apply(SC_GUARD_ALL);
}

/* Judges a touch: looks for the operations that forbid it, excuses or reports it, and has it wait,
 * until nothing forbids it any more. Then the page is opened. Returns early with touch->hold set if
 * the caller has to wait first, and is to call this again. */
static void handle(struct touch *touch)
{
    bool in_order = false;
    bool beside = true;
    SC_OPS(found);
    SC_OPS(fresh);
    for (;; beside = false) {
        SC_TRACKED(sc_guarded_find_touched(track.inflight, touch->address, touch->size_bytes,
                                           touch->kind, &found));
        in_order |= drop_later_than_host_function(&found);
        if (found.count == 0 && (must_wait_beside(touch) || must_wait_unsure(touch)))
            return;
        if (found.count == 0)
            break;
        if (is_in_unknown_function(touch->culprit)) {
            give_no_verdict(SC_NO_VERDICT_HOST_NODE);
            in_order = true;
            break;
        }
        if (leave_those_talked_with(&found, touch))
            continue;
        if (are_excused(&found, touch)) {
            leave_unwatched(&found);
            in_order = true;
            break;
        }
        SC_TRACKED(sc_guarded_find_unaccused(track.inflight, &found, sc_thread_id(), &fresh));
        if (fresh.count) {
            stalled.since_ns = 0;
            sc_neighbours_note_hazard(touch->address);
        }
        report_each(&fresh, touch);
        if (must_wait_for(&found, touch))
            return;
    }
    bool is_beside = beside && !in_order && touch->fault;
    touch->is_stepped = is_beside && sc_steps_open_page(touch->fault, touch->kind);
    if (!touch->is_stepped)
        let_page_go(touch, in_order, is_beside);
}

/* Ends the hold that the touch waited for. A hold that is left behind would last as long as a
 * kernel that does not end before the program does. */
static void end_wait(struct touch *touch)
{
    if (touch->hold)
        SC_TRACKED(sc_holds_give_up(track.holds, touch->hold, touch->hold_age));
    touch->hold = 0;
}

static void take_step(void *argument)
{
    struct touch *touch = argument;
    end_wait(touch);
    handle(touch);
}

/* While the touch waits: is it excused by now? If the page was unprotected meanwhile, as for a copy
 * by the driver, the operation that the thread waits for still counts. */
static void look_for_excuse(struct touch *touch)
{
    SC_OPS(found);
    sc_host_functions_poll(stalled.since_ns ? stalled.since_ns : sc_now_ns());
    SC_TRACKED(sc_guarded_find_touched(track.inflight, touch->address, touch->size_bytes,
                                       touch->kind, &found));
    if (found.count == 0)
        sc_ops_add(&found,
                   &(struct sc_op_info){.ticket = touch->awaited, .ticks = touch->awaited_ticks});
    touch->is_behind_function = are_open(&found);
    touch->is_excused = excuses_all(&found);
}

/* While the touch waits: looks whether a host function or a kernel waits for it. */
static void look_around(void *argument)
{
    struct touch *touch = argument;
    touch->is_excused = false;
    if (touch->is_behind_function)
        look_for_excuse(touch);
    look_whether_stuck(touch);
}

static void look_whether_ended(void *argument)
{
    struct touch *touch = argument;
    if (!SC_TRACKED(sc_holds_is_alive(track.holds, touch->hold, touch->hold_age)))
        touch->hold = 0;
}

/* Runs one step of the handling on a spare stack. In the handler of a fault the step also gives up
 * waiting for our locks if a signal is pending which that handler keeps from the program: the owner
 * of the lock may be stopped until this thread takes the signal. False: it was given up. */
static bool call(struct touch *touch, sc_spare_function *function)
{
    const struct sc_fault *fault = touch->fault;
    if (!fault)
        sc_spare_stack_repeat(function, touch);
    return !fault || sc_spare_stack_try(function, touch, &fault->mask);
}

enum wait { WAIT_OVER, WAIT_LEFT, WAIT_GOES_ON };

/* Looks once whether the wait is over. WAIT_LEFT: a signal is pending that the handler of the fault
 * keeps from the program, so the instruction is to be repeated. */
static enum wait look_once(struct touch *touch, uint64_t now_ns, uint64_t until_ns)
{
    if (!call(touch, look_whether_ended))
        return WAIT_LEFT;
    if (!touch->hold || sc_reaper_has_stopped())
        return WAIT_OVER;
    touch->gives_up |= now_ns >= until_ns;
    touch->may_not_wait |= sc_streams_are_locked_here() || sc_contexts_are_locked_here();
    if (touch->gives_up || touch->may_not_wait)
        return WAIT_OVER;
    if (touch->fault && sc_kernel_mask_holds_back(touch->fault->mask))
        return WAIT_LEFT;
    if (!touch->is_behind_function && !touch->kernel_stream)
        return WAIT_GOES_ON;
    if (!call(touch, look_around))
        return WAIT_LEFT;
    touch->lets_kernels_go_on |= touch->is_stuck;
    return touch->is_excused || touch->is_stuck ? WAIT_OVER : WAIT_GOES_ON;
}

/* Waits for touch->hold, without a lock and with nothing to clean up. False: a signal is pending,
 * as for look_once. */
static bool wait_for_hold(struct touch *touch, uint64_t until_ns)
{
    while (touch->hold) {
        uint32_t round = sc_reaper_round();
        uint64_t now_ns = sc_now_ns();
        enum wait wait = look_once(touch, now_ns, until_ns);
        if (wait != WAIT_GOES_ON)
            return wait == WAIT_OVER;
        bool looks = touch->fault || touch->is_behind_function || touch->kernel_stream;
        uint64_t slice_ns = looks ? now_ns + SLICE_NS : until_ns;
        sc_reaper_sleep(round, slice_ns < until_ns ? slice_ns : until_ns);
    }
    return true;
}

/* Since when the thread has waited for this address, across signals that interrupt the wait. */
static uint64_t stalled_since(uintptr_t address)
{
    if (stalled.since_ns == 0 || stalled.address != address) {
        stalled.address = address;
        stalled.since_ns = sc_now_ns();
    }
    return stalled.since_ns;
}

/* NVTX's lock is one of ours, too. A stall that is shown begins again with the next touch. */
static void show_stall(void *argument)
{
    struct touch *touch = argument;
    sc_nvtx_stall_begin(touch->culprit->api);
}

static void show_end_of_stall(void *unused)
{
    (void)unused;
    sc_nvtx_stall_end();
}

/* Waits for the hold while NVTX shows a stall. The calls of NVTX are steps, as its lock is one of
 * ours. */
static bool wait_shown(struct touch *touch)
{
    uint64_t until_ns = stalled_since(touch->address) + sc_options.stall_limit_ns;
    bool waited = call(touch, show_stall) && wait_for_hold(touch, until_ns);
    return call(touch, show_end_of_stall) && waited;
}

/* Runs the step, and waits and repeats it as long as it asks for a wait. True: the touch was
 * handled. False: the instruction is to be repeated. */
static bool take_steps(struct touch *touch, sc_spare_function *step)
{
    do {
        touch->is_stepped = false;
        if (!call(touch, step)) {
            sc_single_step_forget(touch->fault);
            return false;
        }
    } while (touch->hold && wait_shown(touch));
    if (touch->hold)
        return false;
    stalled.since_ns = 0;
    return true;
}

/* ---- what our own locks are held over ---- */

/* Opens the page if the guard has it, or was about to unprotect it when we interrupted it. */
static bool is_let_through(uintptr_t page)
{
    return (is_covered(page) || sc_spans_may_protect(guards(), page, 1)) &&
           sc_protect_let_through(page);
}

/* Opens the pages at once: a handler that interrupted the library must not wait for locks that its
 * own thread holds. */
static void let_pages_through(uintptr_t address, size_t size_bytes)
{
    uintptr_t page_bytes = guards()->page_mask + 1;
    uintptr_t first = address & ~guards()->page_mask;
    for (uintptr_t page = first; page - first < size_bytes + (address - first); page += page_bytes)
        is_let_through(page);
}

/* ---- calls ---- */

/* Judges a touch that the kernel makes for the program. Within a lock of the library's it cannot be
 * judged. */
void sc_touches_by_kernel(const void *address, size_t size_bytes, enum sc_touch kind,
                          const struct sc_culprit *culprit)
{
    SC_TRACE("touch address bytes kind", address, size_bytes, kind);
    SC_KEEP_ERRNO();
    struct touch touch = {
        .address = (uintptr_t)address, .size_bytes = size_bytes, .kind = kind, .culprit = culprit};
    if (sc_own_lock_depth)
        let_pages_through(touch.address, size_bytes);
    else if (size_bytes)
        take_steps(&touch, take_step);
}

/* ---- faults ---- */

static __thread struct {
    uintptr_t address, pc;
    unsigned count;
} last_fault __attribute__((tls_model("initial-exec")));

/* Has the same fault come several times with no other in between? Then the page's protection must
 * differ from what the tracker knows, and is to be mended. */
static bool keeps_coming(const struct sc_fault *fault)
{
    if (last_fault.address != fault->address || last_fault.pc != fault->pc)
        last_fault.count = 0;
    last_fault.address = fault->address;
    last_fault.pc = fault->pc;
    if (++last_fault.count <= FAULTS_BEFORE_MENDING)
        return false;
    last_fault.count = 0;
    return true;
}

/* The driver's code, on whatever thread, has come to copy pageable memory, one page after another.
 * The pages that follow in the operation are opened with the first, so that it faults once for a
 * block. */
static void let_driver_in(struct touch *touch)
{
    const size_t block_bytes = (size_t)2 << 20;
    SC_OPS(found);
    SC_TRACKED(sc_guarded_find_touched(track.inflight, touch->address, 1, touch->kind, &found));
    for (unsigned i = 0; i < sc_ops_count_kept(&found); i++) {
        const struct sc_op_info *op = &found.ops[i];
        size_t left = op->shape.address + sc_shape_hull_bytes(&op->shape) - touch->address;
        if (!op->range && left > touch->size_bytes)
            touch->size_bytes = left < block_bytes ? left : block_bytes;
    }
    let_page_go(touch, false, false);
}

/* Sets how many bytes the faulting instruction touches on its page, as far as that is known. */
static void measure(struct touch *touch)
{
    const struct sc_fault *fault = touch->fault;
    size_t left = (size_t)((touch->address | guards()->page_mask) - touch->address) + 1;
    size_t bytes = sc_reach_of(fault);
    size_t most = bytes ? bytes : SC_OPERAND_BYTES_MAX;
    if (most > left)
        most = left;
    touch->size_bytes = bytes ? most : 1;
    touch->unsure_bytes = bytes ? 0 : most;
}

/* Handles a fault. If no span covers the page, it was unprotected between the fault and now, or the
 * fault is the program's own. */
static void take_step_of_fault(void *argument)
{
    struct touch *touch = argument;
    const struct sc_fault *fault = touch->fault;
    end_wait(touch);
    if (!is_covered(touch->address)) {
        touch->is_programs = sc_protect_is_programs(touch->address, touch->kind);
    } else if (sc_driver_code_runs(fault->pc, fault->context)) {
        let_driver_in(touch);
    } else {
        measure(touch);
        handle(touch);
        if (!touch->hold && !touch->is_stepped && keeps_coming(fault))
            sc_protect_mend_page(touch->address);
    }
}

/* True: the fault was the guard's, and the instruction is repeated. */
static bool handle_fault(const struct sc_fault *fault)
{
    struct sc_culprit culprit = {
        .api = fault->write ? "memory write" : "memory read",
        .site = (void *)fault->pc,
        .context = fault->context,
    };
    struct touch touch = {
        .address = fault->address,
        .size_bytes = 1,
        .kind = fault->write ? SC_TOUCH_WRITE : SC_TOUCH_READ,
        .culprit = &culprit,
        .fault = fault,
    };
    take_steps(&touch, take_step_of_fault);
    return !touch.is_programs;
}

/* A fault while the thread is within a lock of the library's: only opens the page. Other threads
 * may protect it anew between the two looks, which is no fault of the program's: then it is tried
 * again. */
static bool handle_within_lock(const struct sc_fault *fault)
{
    enum sc_touch kind = fault->write ? SC_TOUCH_WRITE : SC_TOUCH_READ;
    for (unsigned attempt = 0; attempt < LOOKS_MAX; attempt++) {
        uint32_t begun = sc_spans_begun(guards());
        if (is_let_through(fault->address & ~guards()->page_mask) ||
            !sc_page_access_denies(fault->address, kind))
            return true;
        if (sc_spans_begun(guards()) == begun)
            break;
    }
    return false;
}

/* Faults where pages were never guarded are the program's at once, and so are those of fetching
 * instructions: no executable page is guarded. */
bool sc_guard_fault(const struct sc_fault *fault)
{
    SC_TRACE("fault address", fault->address);
    SC_KEEP_ERRNO();
    bool ours = false;
    if (sc_unlikely(sc_process_is_child()))
        ours = sc_guard_busy() && sc_protect_let_go_inherited(fault->address);
    else if (fault->denied && !fault->executes &&
             sc_blocks_may_hold(&guards()->ever, fault->address, 1))
        ours = sc_own_lock_depth ? handle_within_lock(fault) : handle_fault(fault);
    return ours;
}
