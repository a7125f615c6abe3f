#include "interpose/guard/touches.h"

#include "common/hazard_words.h"
#include "common/library_lock.h"
#include "common/mutex.h"
#include "common/now.h"
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
#include "interpose/streams/host_functions.h"
#include "report/options.h"
#include "track/blocks.h"
#include "track/exempt_pages.h"
#include "track/grid.h"
#include "track/guarded.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/inflight_calls.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_holds.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum { SLICE_NS = 1000 * 1000, FAULTS_BEFORE_MENDING = 4, ATTEMPTS_MAX = 1000 };

/* Returns the tracker's record of which pages operations want protected (track/spans.h). */
static struct sc_spans *guards(void)
{
    return sc_track_parts.guards;
}

/* Is the page recorded as protected for an operation now? Lock-free, so another thread may change
 * that. */
static bool is_covered(uintptr_t address)
{
    return sc_grid_find_at(&guards()->grid, address) != 0;
}

/* A touch (a read or write that may come too early) while it is handled, step by step. It lies on
 * the touching thread's stack, and must stay small. */
struct touch {
    uintptr_t address;
    size_t size_bytes;
    size_t unsure_bytes; /* if size_bytes is not certain: how far the touch may extend; else 0 */
    enum sc_touch kind;
    const struct sc_culprit *culprit;
    const struct sc_fault *fault; /* NULL: the touch is by a system call */
    bool is_program_fault;        /* result: the fault is the program's own */
    bool is_undecided;            /* it is counted as not checked, since its length is unknown */
    bool is_stepped;              /* result: the page is protected again after the instruction */
    bool gives_up;                /* stall_limit has passed, so the touch goes on */
    /* a handler touches that has interrupted a call with a mutex, which the library's thread that
     * ends waits may need (common/mutex.h) */
    bool must_not_wait;
    /* The operations that forbid it run after a host function that waits for the program. */
    bool is_excused;
    bool is_after_function; /* they run, or may run, after a host function that has not returned */
    bool releases_kernels;  /* a GPU kernel that forbids it is found to wait for the program */
    bool is_stuck;          /* result: a GPU kernel that forbids it seems to wait for the program */
    uint32_t kernel_stream; /* the stream of a GPU kernel that forbids it; 0: none does */
    struct sc_excuses_stand kernel_stand; /* how far that stream was, and since when */
    /* Result: the hold (the tracker's record of what must be complete first) that the touch has to
     * wait for, and its serial number; 0: none. */
    uint32_t hold;
    uint64_t hold_age;
    struct sc_ticket awaited; /* the first operation that it waits for, and when that was issued */
    uint64_t awaited_ticks;
};

/* Since when this thread has waited to touch this address; 0: it does not wait. Kept here, since
 * each signal ends the wait, which begins again after the handler: stall_limit counts all of it. */
static __thread struct {
    uintptr_t address;
    uint64_t since_ns;
} stalled __attribute__((tls_model("initial-exec")));

/* ---- reporting ---- */

/* Reports the touch as too early for each of the operations; whether the touch waits for it
 * (STALLED) depends on the options. Only then records that this thread was accused for the
 * operation, so that a repeated touch is not reported again: this function may be abandoned
 * half-way (sc_spare_stack_try) and be repeated. */
static void report_each(const struct sc_ops *ops, const struct touch *touch)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        struct sc_ops one = sc_ops_view_one(ops, i);
        bool heals = !touch->must_not_wait && sc_hazards_heals(&one.ops[0]);
        enum sc_action action = heals ? SC_ACTION_STALLED : SC_ACTION_REPORTED;
        struct sc_buffer buffer = sc_hazards_buffer_of(&one.ops[0]);
        sc_hazards_report_touch(sc_hazards_touch_code(&one.ops[0], touch->kind), action, &one,
                                &buffer, touch->culprit);
        SC_TRACKED(sc_guarded_accuse(track.inflight, &one, sc_thread_id()));
    }
}

/* Warns that the touch goes on although the operations are incomplete, as it has waited for
 * stall_limit. */
static void warn_of_timeout(const struct sc_ops *ops)
{
    sc_warning_say("a touch waited stall_limit for %s and was let through: its data may be wrong",
                   ops->ops[0].api);
}

/* ---- who never waits ---- */

/* If a host function makes the touch (cuLaunchHostFunc; it runs on this thread), removes the
 * operations that were issued after its launch: the touch comes before them, and may not wait for
 * them, since they may wait for the function. True: there were some. */
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

/* Is the touch made by a function of the program that the driver calls at a time which no call
 * shows: a host node of a graph, or a user object's destructor? It may well be ordered after the
 * operation, so the touch is not reported. Host functions of streams have a known time
 * (sc_host_functions_own_ticks), and are not meant. */
static bool is_in_unknown_function(const struct sc_culprit *culprit)
{
    return sc_host_functions_own_ticks() == 0 &&
           sc_driver_code_has_called((uintptr_t)culprit->site, culprit->context);
}

/* ---- host functions that wait for the program ---- */

/* Removes from the list the operations for which the predicate holds. */
static void drop_each(struct sc_ops *ops, bool is_dropped(const struct sc_op_info *op))
{
    unsigned kept = 0;
    unsigned count = sc_ops_count_kept(ops);
    for (unsigned i = 0; i < count; i++)
        if (!is_dropped(&ops->ops[i]))
            ops->ops[kept++] = ops->ops[i];
    ops->count = kept;
}

/* Does each of the operations run after a host function that waits for the program? Then the
 * function may wait for what follows this touch, so the touch is no mistake for certain, and must
 * not wait for the operations. False if nothing was found (`ops` has no list). */
static bool excuses_all(const struct sc_ops *ops)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        if (!sc_host_functions_excuses(&ops->ops[i], sc_ticks()))
            return false;
    return ops->ops != NULL;
}

/* May one of the operations run after a host function that has not returned? Such a function may
 * wait for the program. */
static bool any_is_after_function(const struct sc_ops *ops)
{
    bool any = false;
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        any |= sc_host_functions_are_open(&ops->ops[i]);
    return any;
}

/* Returns whether the touch is excused: all operations run after host functions that wait for the
 * program. Stores that in `touch`, and whether any runs after a function that has not returned:
 * that may still be found to wait. Without mode=fix the touch does not wait, so the functions are
 * checked now; else that is done while it waits. */
static bool find_excuses(const struct sc_ops *ops, struct touch *touch)
{
    touch->is_after_function = any_is_after_function(ops);
    if (touch->is_after_function && sc_options.mode != SC_MODE_FIX)
        sc_host_functions_poll(0);
    touch->is_excused = touch->is_after_function && excuses_all(ops);
    return touch->is_excused;
}

/* Counts for the summary a touch that was neither reported nor found correct, by the reason. */
static void count_undecided(enum sc_no_verdict_reason reason)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_TOUCHES, reason, 1);
}

/* Stops guarding these operations, which wait for a host function that waits for the program, so
 * that the touch can go on. Counts the touch as not judged. */
static void leave_unwatched(const struct sc_ops *ops)
{
    SC_TRACKED(sc_guarded_end(track.inflight, ops));
    count_undecided(SC_NO_VERDICT_HOST_FUNCTION);
}

/* ---- kernels ---- */

/* Stops guarding operation `i` of the list, so that the touch need not wait for it, and removes it
 * from the list. */
static void drop_op(struct sc_ops *ops, unsigned i)
{
    struct sc_ops one = sc_ops_view_one(ops, i);
    SC_TRACKED(sc_guarded_end(track.inflight, &one));
    ops->ops[i] = ops->ops[--ops->count];
}

/* Is one of the operations a use that may not happen, as a kernel's use of an address among its
 * parameters? */
static bool has_possible(const struct sc_ops *ops)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++)
        if (sc_ops_is_possible(&ops->ops[i]))
            return true;
    return false;
}

/* Removes from the list, and no longer guards, uses that may not happen and for which the touch
 * need not wait. (A GPU kernel may use an address among its parameters, a graph may run a
 * conditional body.) Without kernels=order that is all of them. With releases_kernels, too: the
 * kernel seems to wait for this very touch, and the page is never protected again, as host and
 * kernel communicate by it. Stores the stream of a kernel that the touch waits for, which may turn
 * out to be stuck. */
static void drop_unawaited_kernels(struct sc_ops *ops, struct touch *touch)
{
    touch->kernel_stream = 0;
    ops->count = sc_ops_count_kept(ops);
    for (unsigned i = ops->count; i-- > 0;) {
        const struct sc_op_info *op = &ops->ops[i];
        if (!sc_ops_is_possible(op))
            continue;
        if (touch->releases_kernels) {
            sc_excuses_kernel_waits(&op->ticket);
            sc_exempt_pages_add(sc_track_parts.exempt_pages,
                                op->shape.address & ~guards()->page_mask);
        }
        if (touch->releases_kernels || !sc_hazards_heals(op))
            drop_op(ops, i);
        else
            touch->kernel_stream = op->ticket.stream;
    }
}

/* Removes from the list, and no longer guards, the GPU kernels with which the program communicates
 * by this touch, which is no mistake then: it is an atomic instruction, or the kernel is known to
 * wait for the host. True: there were some. */
static bool drop_synchronising_kernels(struct sc_ops *ops, const struct touch *touch)
{
    unsigned before = ops->count = sc_ops_count_kept(ops);
    if (!has_possible(ops))
        return false;
    bool is_atomic = touch->fault && sc_atomic_stores_is_one(touch->fault->pc);
    for (unsigned i = ops->count; i-- > 0;)
        if (sc_ops_is_possible(&ops->ops[i]) &&
            (is_atomic || sc_excuses_kernel_is_waiting(&ops->ops[i].ticket)))
            drop_op(ops, i);
    return ops->count < before;
}

/* Sets touch->is_stuck if the GPU kernel for which the touch waits has made no progress for so long
 * that it may wait for the touch in turn. The time does not count while a host function stands
 * before the kernel in its stream, since the kernel has not begun then. */
static void check_stuck(struct touch *touch)
{
    if (touch->is_after_function)
        touch->kernel_stand.since_ns = 0;
    touch->is_stuck = touch->kernel_stream && !touch->is_after_function &&
                      sc_excuses_kernel_is_stuck(&touch->kernel_stand, touch->kernel_stream);
}

/* ---- handling, a step at a time ---- */

/* Must this touch go on at once, with the data as they are? Yes without mode=fix, after
 * stall_limit, if what ends the wait needs a lock that this thread holds, and if the thread that
 * ends waits (the reaper) has stopped. */
static bool never_waits(const struct touch *touch)
{
    return sc_options.mode != SC_MODE_FIX || touch->gives_up || touch->must_not_wait ||
           sc_reaper_has_stopped();
}

/* Makes the tracker's record (a hold) that ends when the operations are complete, for which the
 * touch then waits, and wakes the library's thread that ends it (the reaper). False: there is no
 * memory for it, so the touch does not wait. Notes (for find_beside) that this program's touches
 * have to wait, as it does not wait by itself; not behind a host function, by which it may. */
static bool begin_hold(const struct sc_ops *ops, struct touch *touch)
{
    SC_DEALLOCATION request = {
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
    if (!touch->is_after_function)
        SC_TRACKED(sc_guarded_note_awaited(track.inflight, &ops->ops[0].ticket));
    sc_reaper_wake();
    return true;
}

/* Must the touch wait for these operations, for which it comes too early? True: touch->hold is set.
 * Stops guarding those that are complete, and all if the touch may not wait (with a warning if it
 * has waited for stall_limit). Then the caller finds nothing that forbids the touch. */
static bool find_to_wait_for(struct sc_ops *ops, struct touch *touch)
{
    if (never_waits(touch)) {
        if (touch->gives_up)
            warn_of_timeout(ops);
        SC_TRACKED(sc_guarded_end(track.inflight, ops));
        return false;
    }
    SC_TRACKED(sc_guarded_end_complete(track.inflight, ops));
    drop_unawaited_kernels(ops, touch);
    if (ops->count == 0)
        return false;
    bool waits = begin_hold(ops, touch);
    if (!waits)
        SC_TRACKED(sc_guarded_end(track.inflight, ops));
    return waits;
}

/* Must the touch wait, although it is beside the bytes of what is in flight on the page? Yes if an
 * earlier touch had to wait, and the program has not waited for that operation since: it seems not
 * to wait by itself, and would go on to the bytes beside (the next result, the next row), which are
 * unprotected with the page. Operations that may be waiting for the program, and those later than
 * this host function, are not waited for. */
static bool find_beside(struct touch *touch)
{
    SC_OPS(beside);
    if (never_waits(touch))
        return false;
    SC_TRACKED(sc_guarded_find_beside_touch(track.inflight, touch->address, touch->size_bytes,
                                            touch->kind, &beside));
    drop_later_than_host_function(&beside);
    drop_each(&beside, sc_host_functions_are_open);
    touch->is_after_function = false;
    return beside.count > 0 && begin_hold(&beside, touch);
}

/* Must the touch wait, if its length is unknown (unsure_bytes), and it begins beside the bytes of
 * what is in flight and may extend into them? It is counted, once, and not reported. Kernels, which
 * may not use the bytes, are left out, and excuses hold as for a touch that is reported. */
static bool find_unsure(struct touch *touch)
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
    if (!touch->is_undecided)
        count_undecided(SC_NO_VERDICT_NEIGHBOURS);
    touch->is_undecided = true;
    if (touch->gives_up)
        warn_of_timeout(&found);
    if (is_in_unknown_function(touch->culprit) || find_excuses(&found, touch) || never_waits(touch))
        return false;
    SC_TRACKED(sc_guarded_end_complete(track.inflight, &found));
    return found.count > 0 && begin_hold(&found, touch);
}

/* Stops guarding the pages of the touched bytes. `in_order`: the touch is no mistake for all that
 * is known, so sources on the pages are not compared later for a change. Returns whether the page
 * was still watched for an operation (not released or unprotected by another thread meanwhile). */
static bool end_watch(const struct touch *touch, bool in_order)
{
    enum sc_no_verdict_reason why = touch->fault ? SC_NO_VERDICT_NEIGHBOURS : SC_NO_VERDICT_KERNEL;
    SC_TRACK_SCOPE(track);
    bool was_watched = sc_inflight_watches_page(track.inflight, touch->address, touch->kind);
    sc_guarded_unprotect(track.inflight, touch->address, touch->size_bytes, touch->kind, !in_order,
                         why);
    return was_watched;
}

/* Unprotects the pages of the touched bytes. If the touch was beside what is in flight, counts it
 * for the page: one that is touched so again and again is left unprotected (neighbours.h). */
static void unprotect_page(const struct touch *touch, bool in_order, bool beside)
{
    SC_TRACE("unprotect address", touch->address);
    if (end_watch(touch, in_order) && beside)
        sc_neighbours_note_touch(touch->address);
    sc_guard_apply(SC_GUARD_ALL);
}

/* Handles a touch: finds the operations for which it comes too early, excuses or reports it, and
 * has it wait until there are none. Then unprotects the page, or only for this instruction
 * (is_stepped) if the touch was beside the bytes in flight. Returns early with touch->hold set if
 * the caller must wait for that first, and then call this again. */
static void handle_touch(struct touch *touch)
{
    bool in_order = false; /* the touch is no mistake, as far as is known */
    bool beside = true;    /* no byte in flight was touched */
    SC_OPS(found);
    SC_OPS(fresh);
    for (;; beside = false) {
        SC_TRACKED(sc_guarded_find_touched(track.inflight, touch->address, touch->size_bytes,
                                           touch->kind, &found));
        in_order |= drop_later_than_host_function(&found);
        /* no byte in flight is touched for certain */
        if (found.count == 0 && (find_beside(touch) || find_unsure(touch)))
            return;
        if (found.count == 0)
            break;
        if (is_in_unknown_function(touch->culprit)) {
            count_undecided(SC_NO_VERDICT_HOST_NODE);
            in_order = true;
            break;
        }
        if (drop_synchronising_kernels(&found, touch))
            continue;
        if (find_excuses(&found, touch)) {
            leave_unwatched(&found);
            in_order = true;
            break;
        }
        SC_TRACKED(sc_guarded_find_unaccused(track.inflight, &found, sc_thread_id(), &fresh));
        if (fresh.count) { /* a new mistake: stall_limit counts anew */
            stalled.since_ns = 0;
            sc_neighbours_note_hazard(touch->address);
        }
        report_each(&fresh, touch);
        if (find_to_wait_for(&found, touch))
            return;
    }
    bool is_beside = beside && !in_order && touch->fault;
    touch->is_stepped = is_beside && sc_steps_open_page(touch->fault, touch->kind);
    if (!touch->is_stepped)
        unprotect_page(touch, in_order, is_beside);
}

/* Removes the hold that the touch has waited for, if it has not ended: it would last as long as the
 * operations, which may be a GPU kernel that does not end before the program does. */
static void end_wait(struct touch *touch)
{
    if (touch->hold)
        SC_TRACKED(sc_holds_give_up(track.holds, touch->hold, touch->hold_age));
    touch->hold = 0;
}

/* Handles the touch by a system call until it must wait (touch->hold is set) or is done. Runs on a
 * spare stack. Called again after each wait, so the hold of the last one is removed first. */
static void handle_once(void *argument)
{
    struct touch *touch = argument;
    end_wait(touch);
    handle_touch(touch);
}

/* Checks, while the touch waits, whether it is excused by now: the operations run after a host
 * function that is found to wait for the program. If the page was unprotected meanwhile, as for a
 * copy by the driver, none is found, and the operation that the touch waits for counts. */
static void check_excuse(struct touch *touch)
{
    SC_OPS(found);
    sc_host_functions_poll(stalled.since_ns ? stalled.since_ns : sc_now_ns());
    SC_TRACKED(sc_guarded_find_touched(track.inflight, touch->address, touch->size_bytes,
                                       touch->kind, &found));
    if (found.count == 0)
        sc_ops_add(&found,
                   &(struct sc_op_info){.ticket = touch->awaited, .ticks = touch->awaited_ticks});
    touch->is_after_function = any_is_after_function(&found);
    touch->is_excused = excuses_all(&found);
}

/* Checks, while the touch waits, whether a host function or a GPU kernel waits for it in turn: the
 * two would wait for each other for ever. Runs on a spare stack. */
static void check_waiters(void *argument)
{
    struct touch *touch = argument;
    touch->is_excused = false;
    if (touch->is_after_function)
        check_excuse(touch);
    check_stuck(touch);
}

/* Clears touch->hold, which ends the wait, if the operations that the touch waits for are complete.
 * Runs on a spare stack. */
static void check_hold_of(void *argument)
{
    struct touch *touch = argument;
    if (!SC_TRACKED(sc_holds_is_alive(track.holds, touch->hold, touch->hold_age)))
        touch->hold = 0;
}

/* Runs one step of the handling on a spare stack. In the handler of a fault the step is abandoned
 * if it would wait for a lock of the library while a signal is pending that the handler blocks: the
 * lock's owner may be stopped until this thread handles that signal. False: it was abandoned. */
static bool run_step(struct touch *touch, sc_spare_function *function)
{
    const struct sc_fault *fault = touch->fault;
    if (!fault)
        sc_spare_stack_repeat(function, touch);
    return !fault || sc_spare_stack_try(function, touch, &fault->mask);
}

enum wait { WAIT_OVER, WAIT_LEFT, WAIT_GOES_ON };

/* Checks once whether the touch's wait is over: the operations are complete, stall_limit
 * (`until_ns`) has passed, or a host function or GPU kernel waits for the program in turn. A kernel
 * that does (is_stuck) is no longer waited for in the next step. WAIT_LEFT: a signal is pending
 * that the handler of the fault blocks; the handler returns, and the instruction is repeated. */
static enum wait check_wait(struct touch *touch, uint64_t now_ns, uint64_t until_ns)
{
    if (!run_step(touch, check_hold_of))
        return WAIT_LEFT;
    if (!touch->hold || sc_reaper_has_stopped())
        return WAIT_OVER;
    touch->gives_up |= now_ns >= until_ns;
    if (touch->gives_up)
        return WAIT_OVER;
    if (touch->fault && sc_kernel_mask_holds_back(touch->fault->mask))
        return WAIT_LEFT;
    if (!touch->is_after_function && !touch->kernel_stream)
        return WAIT_GOES_ON;
    if (!run_step(touch, check_waiters))
        return WAIT_LEFT;
    touch->releases_kernels |= touch->is_stuck;
    return touch->is_excused || touch->is_stuck ? WAIT_OVER : WAIT_GOES_ON;
}

/* Waits for the operations that forbid the touch (touch->hold), without a lock and with nothing to
 * clean up, as a signal handler may leave the wait for good. Wakes every millisecond (SLICE_NS)
 * where more than that can end the wait: a pending signal, a host function, a kernel. False: a
 * signal is pending, and the instruction is to be repeated. */
static bool wait_for_hold(struct touch *touch, uint64_t until_ns)
{
    while (touch->hold) {
        uint32_t pass = sc_reaper_pass_number();
        uint64_t now_ns = sc_now_ns();
        enum wait wait = check_wait(touch, now_ns, until_ns);
        if (wait != WAIT_GOES_ON)
            return wait == WAIT_OVER;
        bool polls = touch->fault || touch->is_after_function || touch->kernel_stream;
        uint64_t slice_ns = polls ? now_ns + SLICE_NS : until_ns;
        sc_reaper_sleep(pass, slice_ns < until_ns ? slice_ns : until_ns);
    }
    return true;
}

/* Returns since when the thread has waited to touch this address, across signals that interrupt the
 * wait; if it has not yet, since now. */
static uint64_t stalled_since(uintptr_t address)
{
    if (stalled.since_ns == 0 || stalled.address != address) {
        stalled.address = address;
        stalled.since_ns = sc_now_ns();
    }
    return stalled.since_ns;
}

/* Shows in NVTX (for profilers) that the thread begins to wait. Runs on a spare stack and may be
 * abandoned, as it takes a lock. */
static void show_stall(void *argument)
{
    struct touch *touch = argument;
    sc_nvtx_stall_begin(touch->culprit->api);
}

/* Shows in NVTX that the thread's wait has ended. */
static void show_end_of_stall(void *unused)
{
    (void)unused;
    sc_nvtx_stall_end();
}

/* Waits for the operations that forbid the touch, and shows the wait in NVTX. False: a signal is
 * pending, and the instruction is to be repeated after its handler. */
static bool wait_shown(struct touch *touch)
{
    uint64_t until_ns = stalled_since(touch->address) + sc_options.stall_limit_ns;
    bool waited = run_step(touch, show_stall) && wait_for_hold(touch, until_ns);
    return run_step(touch, show_end_of_stall) && waited;
}

/* Runs `step` on a spare stack, and waits and runs it again as long as it requests a wait
 * (touch->hold). True: the touch was handled. False: a signal is pending, and the instruction is to
 * be repeated after its handler, from the beginning. */
static bool take_steps(struct touch *touch, sc_spare_function *step)
{
    do {
        touch->is_stepped = false;
        if (!run_step(touch, step)) {
            sc_single_step_forget(touch->fault);
            return false;
        }
    } while (touch->hold && wait_shown(touch));
    if (touch->hold)
        return false;
    stalled.since_ns = 0;
    return true;
}

/* ---- touches within a lock of the library ---- */

/* Makes the page accessible without a lock if the guard protects it, or was about to unprotect it
 * when the handler interrupted it. False: the guard has nothing to do with the page, or Linux
 * refuses. */
static bool unprotect_at_once(uintptr_t page)
{
    return (is_covered(page) || sc_spans_may_protect(guards(), page, 1)) &&
           sc_protect_unprotect_at_once(page);
}

/* Makes the pages accessible at once: a handler that interrupted the library must not wait for
 * locks that its own thread holds. */
static void unprotect_pages_at_once(uintptr_t address, size_t size_bytes)
{
    uintptr_t page_bytes = guards()->page_mask + 1;
    uintptr_t first = address & ~guards()->page_mask;
    for (uintptr_t page = first; page - first < size_bytes + (address - first); page += page_bytes)
        unprotect_at_once(page);
}

/* ---- calls ---- */

/* Handles a touch by a system call that the program is about to make, which would fail on a
 * protected page: reports it and waits as for an instruction's, and unprotects the pages. In a
 * handler that has interrupted a lock of the library, only unprotects them. */
void sc_touches_by_kernel(const void *address, size_t size_bytes, enum sc_touch kind,
                          const struct sc_culprit *culprit)
{
    SC_TRACE("touch address bytes kind", address, size_bytes, kind);
    SC_KEEP_ERRNO();
    struct touch touch = {
        .address = (uintptr_t)address,
        .size_bytes = size_bytes,
        .kind = kind,
        .culprit = culprit,
        .must_not_wait = sc_mutex_depth != 0,
    };
    if (sc_library_lock_depth)
        unprotect_pages_at_once(touch.address, size_bytes);
    else if (size_bytes)
        take_steps(&touch, handle_once);
}

/* ---- faults ---- */

/* The thread's last fault on a guarded page, and how many times in a row it came. */
static __thread struct {
    uintptr_t address, pc;
    unsigned count;
} last_fault __attribute__((tls_model("initial-exec")));

/* Counts the fault, and returns whether the same one has come more than FAULTS_BEFORE_MENDING times
 * with no other in between. Then the page's protection must differ from what the tracker has
 * recorded, and the caller repairs it: the thread would fault for ever. */
static bool count_repeated(const struct sc_fault *fault)
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

/* Handles a fault in the driver's code, which copies pageable memory (`range` 0) page by page for
 * an operation: no touch by the program, so nothing is reported. The pages behind the touched one
 * are unprotected with it, up to 2 MB, so that the driver does not fault on each. */
static void unprotect_for_driver(struct touch *touch)
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
    unprotect_page(touch, false, false);
}

/* Sets how many bytes the faulting instruction touches, not beyond the page. If it cannot be
 * decoded, one byte is certain, and the most that an instruction can touch is unsure. */
static void measure_touch(struct touch *touch)
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

/* Handles a fault until it must wait (touch->hold is set) or is done; called again after each wait.
 * If nothing guards the page now, it was unprotected since the fault, or the fault is the program's
 * own (is_program_fault). Runs on a spare stack. */
static void handle_fault_once(void *argument)
{
    struct touch *touch = argument;
    const struct sc_fault *fault = touch->fault;
    end_wait(touch);
    if (!is_covered(touch->address)) {
        touch->is_program_fault = sc_protect_is_program_fault(touch->address, touch->kind);
    } else if (sc_driver_code_runs(fault->pc, fault->context)) {
        unprotect_for_driver(touch);
    } else {
        measure_touch(touch);
        handle_touch(touch);
        if (!touch->hold && !touch->is_stepped && count_repeated(fault))
            sc_protect_repair_page(touch->address);
    }
}

/* Handles a fault on a page that may be guarded. True: the fault was the guard's, and the
 * instruction is repeated. False: it is the program's own. */
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
        .must_not_wait = sc_mutex_depth != 0,
    };
    take_steps(&touch, handle_fault_once);
    return !touch.is_program_fault;
}

/* Handles a fault in a handler that has interrupted a lock of the library, so it takes none: only
 * makes the page accessible. True: the instruction is repeated. False: the fault is the program's.
 * If a page was protected by another thread between the two checks (`begun` has changed), that may
 * be this one, and it is tried again. */
static bool handle_within_lock(const struct sc_fault *fault)
{
    enum sc_touch kind = fault->write ? SC_TOUCH_WRITE : SC_TOUCH_READ;
    for (unsigned attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        uint32_t begun = sc_spans_begun(guards());
        if (unprotect_at_once(fault->address & ~guards()->page_mask) ||
            !sc_page_access_denies(fault->address, kind))
            return true;
        if (sc_spans_begun(guards()) == begun)
            break;
    }
    return false;
}

/* Handles a fault if it is the guard's: returns true, and the instruction is repeated. Faults where
 * no page was ever guarded are the program's at once, and so are those of fetching instructions (no
 * executable page is guarded) and of unmapped pages. A forked child only unprotects its copies of
 * the pages. */
bool sc_guard_fault(const struct sc_fault *fault)
{
    SC_TRACE("fault address", fault->address);
    SC_KEEP_ERRNO();
    bool ours = false;
    if (sc_unlikely(sc_process_is_child()))
        ours = sc_guard_busy() && sc_protect_unprotect_inherited(fault->address);
    else if (fault->denied && !fault->executes &&
             sc_blocks_may_hold(&guards()->ever, fault->address, 1))
        ours = sc_library_lock_depth ? handle_within_lock(fault) : handle_fault(fault);
    return ours;
}
