#include "interpose/guard/guard.h"

#include <errno.h>
#include <stdatomic.h>

#include "common/library_lock.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/peek.h"
#include "common/pool.h"
#include "common/shape.h"
#include "interpose/base/compiler.h"
#include "interpose/base/plain_memory.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/base/thread_stack.h"
#include "interpose/guard/apart.h"
#include "interpose/guard/block_areas.h"
#include "interpose/guard/data_limit.h"
#include "interpose/guard/door.h"
#include "interpose/guard/guard_budget.h"
#include "interpose/guard/guarded_ranges.h"
#include "interpose/guard/map_budget.h"
#include "interpose/guard/map_waits.h"
#include "interpose/guard/neighbours.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/userfaults.h"
#include "interpose/memory/areas.h"
#include "interpose/memory/pinned.h"
#include "interpose/reaper/reaper.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signals.h"
#include "interpose/signals/upwards.h"
#include "report/options.h"
#include "report/report.h"
#include "track/grid.h"
#include "track/guarded.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_parts.h"
#include "track/track_ranges.h"
#include "track/track_views.h"

#include "common/poison.h"

enum { LOOKED_AT_MAX = 256 };

static bool uses_cuda;

/* Returns the tracker's record of which pages operations want protected (track/spans.h). */
static struct sc_spans *guards(void)
{
    return sc_track_parts.guards;
}

/* ---- figures ---- */

/* Collects for the report's summary how often each mechanism has protected pages, whether
 * userfaultfd was to be had, and the option guard_budget (NULL: not set). */
struct sc_report_guard sc_guard_totals(void)
{
    return (struct sc_report_guard){
        .by_mprotect = sc_guarded_ranges_count(false),
        .by_userfaultfd = sc_guarded_ranges_count(true),
        .userfaultfd = sc_userfaults_state(),
        .budget = sc_guard_budget,
    };
}

/* ---- the pages ---- */

/* Is any page protected, or about to be unprotected? Hooks ask this first, as it is one load: while
 * nothing is, they pass the program's calls on without a search. */
bool sc_guard_busy(void)
{
    return sc_unlikely(atomic_load_explicit(&guards()->busy, memory_order_relaxed) != 0);
}

/* Makes the system calls (mprotect, userfaultfd) for changes of protection that the tracker has
 * only recorded so far. If this thread has locked stripes (sets of pages with a lock each) before
 * the change, those come first, and are unlocked. Then come changes that were not simple enough for
 * that, and those of streams in `stream_bits`; 0: only this thread's own. The time counts as taken
 * by guarding (option guard_budget). */
void sc_guard_apply(uint64_t stream_bits)
{
    bool has_locked = sc_unlikely(sc_spans_locked_stripes != 0);
    if (sc_likely(!has_locked && !sc_spans_may_be_unapplied(guards(), stream_bits != 0)))
        return;
    uint64_t before = sc_guard_budget_begin();
    if (has_locked)
        sc_protect_apply_and_unlock();
    if (sc_spans_may_be_unapplied(guards(), stream_bits != 0))
        sc_protect_apply(stream_bits);
    sc_guard_budget_end(before);
}

/* Locks these stripes (sets of pages, a bit each) before the tracker records a change there;
 * sc_guard_apply unlocks them. The time counts as taken by guarding (option guard_budget). */
void sc_guard_lock_some_stripes(uint64_t stripes)
{
    uint64_t before = sc_guard_budget_begin();
    sc_protect_lock_stripes(stripes);
    sc_guard_budget_end(before);
}

/* May a change of these pages' protection be recorded whose system call is still to be made? Such
 * pages may be protected although no live operation wants that. With more than LOOKED_AT_MAX
 * records the answer is true without a search, which would take too long for a hook. */
static bool may_be_unapplied(uintptr_t start, size_t size_bytes)
{
    return sc_spans_may_be_unapplied(guards(), true) &&
           (sc_pool_first_unused(&guards()->pool) > LOOKED_AT_MAX ||
            sc_spans_may_protect(guards(), start, size_bytes));
}

/* May a page of the interval be protected, or an operation in flight use it? Looks for pages that
 * operations want protected, for operations, and for protection that still has to be removed.
 * Callers have found sc_guard_busy true. */
bool sc_guard_overlaps(const void *address, size_t size_bytes)
{
    uintptr_t start = (uintptr_t)address & ~guards()->page_mask;
    size_t whole = size_bytes + ((uintptr_t)address - start);
    return sc_grid_may_overlap(&guards()->grid, start, whole) ||
           sc_track_may_have(&sc_track, SC_NEAR_OPERATIONS, (uintptr_t)address, size_bytes) ||
           may_be_unapplied(start, whole);
}

/* May the interval overlap guarded memory? Size SIZE_MAX: is any page guarded? Hooks ask this
 * before the program's call frees, remaps or uses the memory. */
bool sc_guard_has(const void *address, size_t size_bytes)
{
    return sc_guard_busy() && (size_bytes == SIZE_MAX || sc_guard_overlaps(address, size_bytes));
}

/* ---- fork ---- */

/* Unprotects the copies of protected pages in a forked child, where nothing waits for the device:
 * the driver does not work there. Takes no lock, as a thread of the parent may have held it. */
static void unprotect_inherited(void)
{
    SC_KEEP_ERRNO();
    sc_protect_unprotect_inherited(0);
    sc_apart_forget();
}

/* In a forked child, unprotects the inherited pages and returns true: the caller has nothing more
 * to do. Elsewhere returns false. For children that were made by a system call of the program, in
 * which the library's fork handler has not run. */
bool sc_guard_unprotect_in_child(void)
{
    if (sc_likely(!sc_process_is_child()))
        return false;
    unprotect_inherited();
    return true;
}

/* ---- unprotecting ---- */

/* Unprotects the pages without a report. Sources there are copied first, and compared later, so
 * that a change by the program is still found. Called on a spare stack, since the thread's own may
 * be protected. */
static void unprotect_pages(void *argument)
{
    const struct sc_pages *of = argument;
    SC_TRACKED(sc_guarded_unprotect(track.inflight, of->start, of->end - of->start, SC_TOUCH_WRITE,
                                    true, SC_NO_VERDICT_KERNEL));
    sc_guard_apply(SC_GUARD_ALL);
}

/* Unprotects the pages of the interval, if any is guarded, before a system call or the driver uses
 * them: it would fail with EFAULT. Size 0 counts as one byte. A forked child unprotects all pages
 * instead. */
void sc_guard_unprotect(const void *address, size_t size_bytes)
{
    struct sc_pages of = {(uintptr_t)address, (uintptr_t)address + (size_bytes ? size_bytes : 1)};
    if (sc_guard_has(address, size_bytes) && !sc_guard_unprotect_in_child())
        sc_spare_stack_repeat(unprotect_pages, &of);
}

/* Stops guarding all operations, and unprotects their pages. */
static void unprotect_all(void *unused)
{
    (void)unused;
    SC_TRACKED(sc_guarded_end_all(track.inflight));
    sc_guard_apply(SC_GUARD_ALL);
}

/* Calls unprotect_all on a spare stack, until it is not abandoned for a pending signal. Itself a
 * function for sc_spare_stack_call_last, which limits its waits for locks. */
static void repeat_all(void *unused)
{
    sc_spare_stack_repeat(unprotect_all, unused);
}

/* Stops guarding all operations, and unprotects their pages. `is_last`: the process ends or is
 * about to exec; a wait for a lock then ends after a second, as the lock's owner may never run
 * again. */
void sc_guard_unprotect_all(bool is_last)
{
    if (sc_guard_unprotect_in_child())
        return;
    if (is_last)
        sc_spare_stack_call_last(repeat_all, NULL);
    else
        repeat_all(NULL);
}

/* Stops guarding all operations, and merges all mappings that were kept separate so that mprotect
 * is faster (apart.h). Frees as many mappings as the guard can free. */
static void unprotect_all_and_join(void *unused)
{
    (void)unused;
    SC_TRACKED(sc_guarded_give_up(track.inflight));
    sc_guard_apply(SC_GUARD_ALL);
    sc_protect_join_all();
}

/* Called after a failed system call of the program (mmap and the like). If it failed because the
 * process has no mappings left, stops guarding all operations, which may cost two mappings each,
 * and returns true: the caller repeats the call. False: ENOMEM has another cause, the guard has no
 * mapping to free, or a signal handler has interrupted a lock of the library and must not take one.
 */
bool sc_guard_makes_room(void)
{
    if (errno != ENOMEM || (!sc_guard_busy() && !sc_apart_any()) || sc_library_lock_depth ||
        !sc_map_budget_is_spent())
        return false;
    sc_spare_stack_repeat(unprotect_all_and_join, NULL);
    return true;
}

/* ---- the process ---- */

/* Does what the guard has to do at this moment of the process's life (start, first use of CUDA,
 * fork, end). A forked child of a process without CUDA has no pages to unprotect. */
void sc_guard_process(enum sc_guard_moment moment)
{
    switch (moment) {
    case SC_GUARD_STARTS_UNWANTED:
    case SC_GUARD_STARTS:
        sc_sharing_start(moment == SC_GUARD_STARTS);
        break;
    case SC_GUARD_USES_CUDA:
        uses_cuda = true;
        sc_guard_budget_start();
        sc_signals_enter_handlers();
        break;
    case SC_GUARD_LOADS_CODE:
        sc_signals_recheck_soon();
        break;
    case SC_GUARD_FORKED:
        sc_signals_child();
        if (uses_cuda)
            unprotect_inherited();
        break;
    case SC_GUARD_ENDS:
        sc_guard_unprotect_all(true);
        break;
    }
}

/* ---- which pages ---- */

/* May pages of this pageable memory be protected? Only if it is plain (readable and writable, as
 * malloc's is), and no thread's stack can lie there: on a protected stack Linux could not deliver
 * SIGSEGV, and would kill the process. */
static bool is_pageable_allowed(const struct sc_range_info *range)
{
    uintptr_t start = range->address & ~guards()->page_mask;
    size_t size_bytes = range->address - start + range->size_bytes;
    return !sc_thread_stack_overlaps_main(start, size_bytes) &&
           sc_plain_memory_is_heap(start, size_bytes);
}

/* May pages of this memory be protected at all? Pinned memory that was allocated may be. Registered
 * memory may be of any kind, so its mapping is checked, once: the answer is recorded with the range
 * (the tracker's record of the allocation or registration). Managed memory may not be protected. */
static bool look_up_allowed(const struct sc_range_info *range)
{
    if (!range->range) /* no record: pageable memory */
        return is_pageable_allowed(range);
    if (range->guarding != SC_GUARDING_UNKNOWN)
        return range->guarding != SC_GUARDING_FORBIDDEN;
    uintptr_t start = range->address & ~guards()->page_mask;
    bool allowed = range->kind == SC_PINNED ||
                   (range->kind == SC_REGISTERED &&
                    sc_plain_memory_is(start, range->address - start + range->size_bytes));
    SC_TRACKED(sc_guarded_set(track.inflight, range->address, range->size_bytes,
                              allowed ? SC_GUARDING_ALLOWED : SC_GUARDING_FORBIDDEN));
    return allowed;
}

/* Has malloc mapped this block by itself, so that no other block lies on its pages? glibc does so
 * with large blocks: a header of 16 bytes lies before them, with bit 1 of the size set. */
static bool is_own_mapping(const struct sc_range_info *range)
{
    enum { HEADER_BYTES = 16, IS_MAPPED = 2, FLAGS = 7 };
    size_t header[2];
    uintptr_t page = range->address & ~guards()->page_mask;
    if (range->address - page != HEADER_BYTES || !sc_peek_anyhow(header, page, sizeof header))
        return false;
    size_t mapped_bytes = header[1] & ~(size_t)FLAGS;
    return header[0] == 0 && (header[1] & FLAGS) == IS_MAPPED &&
           (mapped_bytes & guards()->page_mask) == 0 &&
           mapped_bytes >= HEADER_BYTES + range->size_bytes &&
           mapped_bytes - range->size_bytes <= HEADER_BYTES + guards()->page_mask;
}

/* Returns the pages that contain nothing but this allocation or registration. Its other pages also
 * contain memory that the library does not know: a system call may use that at any time, and would
 * fail with EFAULT if the page were protected. The driver's pinned memory has whole pages. */
static struct sc_pages own_pages(const struct sc_range_info *range)
{
    uintptr_t mask = guards()->page_mask;
    if (range->kind == SC_PINNED || is_own_mapping(range))
        return sc_spans_pages(guards(), range->address, range->size_bytes);
    return (struct sc_pages){(range->address + mask) & ~mask,
                             (range->address + range->size_bytes) & ~mask};
}

/* Returns the address up to which to protect an operation's pages, which end at `end`. In pinned
 * memory of huge pages (2 MB) that is the end of the last huge page, or of the mapping, since
 * protecting a part of a huge page costs more. This is done only if the rest is hardly used: the
 * operation reaches the last page of the allocation (`own_end`), or begins with it and has most of
 * its bytes. */
static uintptr_t end_of_huge_page(const struct sc_range_info *range, const struct sc_op_info *op,
                                  uintptr_t own_end, uintptr_t end)
{
    const uintptr_t huge_mask = ((uintptr_t)2 << 20) - 1;
    bool most = op->shape.address == range->address &&
                sc_shape_hull_bytes(&op->shape) > range->size_bytes / 2;
    if (range->kind != SC_PINNED || (end < own_end && !most))
        return end;
    /* memory that is registered with userfaultfd is mapped by small pages */
    if (sc_userfaults_have_adopted(op->shape.address & ~guards()->page_mask, 1))
        return end;
    uintptr_t mapping_end = sc_pinned_end(range->address);
    if (!mapping_end || mapping_end - range->address <= huge_mask)
        return end;
    return end >= own_end ? mapping_end : (end + huge_mask) & ~huge_mask;
}

/* Counts for the summary an operation of which so many bytes are not watched: an early read or
 * write of them by the program would not be noticed. */
static void note_unguarded(enum sc_no_verdict_reason reason, size_t size_bytes)
{
    sc_no_verdicts_note_unwatched(sc_track_parts.no_verdicts, reason, size_bytes);
}

/* Will those ends of the operation's source that are left unprotected be compared with a copy when
 * the operation is done? Then a change there is found, and the bytes count as watched. Holds for
 * copies to the device whose source only the host can change (`stable`). */
static bool edges_are_compared(const struct sc_op_info *op)
{
    return op->direction == SC_H2D && op->stable;
}

/* Records that the pages from `start` to `end`, at one end of the operation, are left unprotected,
 * so that a source is copied and compared there instead. Returns how many bytes of the operation
 * are then not watched at all. */
static size_t leave_out(struct sc_op_info *op, uintptr_t start, uintptr_t end)
{
    op->shares_pages = true;
    return edges_are_compared(op) ? 0 : sc_shape_used_between(&op->shape, &op->fold, start, end);
}

/* Returns whether the allocation or registration contains a thread's stack, as far as is known. If
 * the calling thread runs on one there, records that. On a page with only a part of an operation
 * there may then be stack, too: it must not be protected, as Linux needs the stack to deliver
 * SIGSEGV. */
static bool find_stack(const struct sc_range_info *range)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (sc_unlikely(range->range && here - range->address < range->size_bytes))
        sc_guard_note_stack(here);
    return range->guarding == SC_GUARDING_WHOLE_PAGES || here - range->address < range->size_bytes;
}

/* Argument of note_stack_range, which runs on a spare stack. */
struct stack_range {
    uintptr_t place;
    struct sc_range_info range; /* result: the range, if it was not known to contain a stack */
};

/* Records that the range (allocation or registration) at of->place contains a stack, so that only
 * pages without other bytes than an operation's are protected there. of->range: the range, whose
 * pages the caller unprotects. Its size is 0 if there is nothing to unprotect: the stack is
 * recorded already, or no page of the range is ever protected. */
static void note_stack_range(void *argument)
{
    struct stack_range *of = argument;
    of->range = sc_track_find_range(&sc_track, of->place);
    if (of->range.guarding >= SC_GUARDING_WHOLE_PAGES || !of->range.range ||
        !look_up_allowed(&of->range))
        of->range.size_bytes = 0;
    else
        SC_TRACKED(sc_guarded_set(track.inflight, of->range.address, of->range.size_bytes,
                                  SC_GUARDING_WHOLE_PAGES));
}

/* Records that a stack lies at `place`: the calling thread's, or one on which a thread or context
 * is about to run. Then unprotects the allocation or registration around it, since a fault on a
 * protected stack would kill the process. Does nothing if no such memory is near, and within a lock
 * of the library, which the recording would wait for. Runs on a spare stack, since the thread's
 * may have little room. */
void sc_guard_note_stack(uintptr_t place)
{
    struct stack_range of = {.place = place};
    if (sc_likely(!sc_track_range_may_be_near(&sc_track, (const void *)place)) ||
        sc_library_lock_depth || sc_guard_unprotect_in_child())
        return;
    sc_spare_stack_call(note_stack_range, &of);
    if (of.range.size_bytes)
        sc_guard_unprotect((const void *)of.range.address, of.range.size_bytes);
}

/* Removes those pages from `pages`, the operation's, that also contain memory which the library
 * does not know, and counts the bytes that are then not watched. If pages remain, extends them over
 * the last huge page, unless a stack may lie on the pages gained. */
static void leave_out_foreign(const struct sc_range_info *range, struct sc_op_info *op,
                              struct sc_pages *pages)
{
    struct sc_pages own = own_pages(range);
    size_t unwatched = 0;
    if (pages->start < own.start)
        unwatched += leave_out(op, pages->start, own.start);
    if (pages->end > own.end)
        unwatched += leave_out(op, own.end > own.start ? own.end : own.start, pages->end);
    if (unwatched)
        note_unguarded(SC_NO_VERDICT_SHARED_PAGE, unwatched);
    pages->start = pages->start > own.start ? pages->start : own.start;
    pages->end = pages->end < own.end ? pages->end : own.end;
    if (pages->start < pages->end && !find_stack(range))
        pages->end = end_of_huge_page(range, op, own.end, pages->end);
}

/* Is the operation's source small enough to be copied, and compared when the operation is done?
 * That costs less than to protect the pages that remain without its first and last one. */
static bool is_small_source(const struct sc_op_info *op)
{
    return edges_are_compared(op) && sc_shape_hull_bytes(&op->shape) <= SC_COMPARED_WHOLE_BYTES;
}

/* Removes the first and the last page from `pages`, the operation's, each if the operation uses
 * only a part of it and the program touches the rest of it again and again (neighbours.h): such a
 * touch would fault and is no mistake. With a stack in the range both are removed, as stack may lie
 * there. Of a small source no page remains then: it is compared as a whole. */
static void leave_out_contended(const struct sc_range_info *range, struct sc_op_info *op,
                                struct sc_pages *pages)
{
    bool all = find_stack(range);
    uintptr_t page_bytes = guards()->page_mask + 1;
    uintptr_t op_end = op->shape.address + sc_shape_hull_bytes(&op->shape);
    uintptr_t last = (op_end - 1) & ~guards()->page_mask;
    bool starts_within = pages->start < op->shape.address;
    bool ends_within = (op_end & guards()->page_mask) != 0 && last < pages->end;
    size_t unwatched = 0;
    bool contended = false;
    /* a single page that both ends lie on is handled below, once */
    if (ends_within && last != pages->start && (all || sc_neighbours_leave_out(last))) {
        unwatched += leave_out(op, last, last + page_bytes);
        pages->end = last;
        contended = true;
    }
    if ((starts_within || (ends_within && last == pages->start)) &&
        (all || sc_neighbours_leave_out(pages->start))) {
        unwatched += leave_out(op, pages->start, pages->start + page_bytes);
        pages->start += page_bytes;
        contended = true;
    }
    if (contended && is_small_source(op))
        pages->start = pages->end;
    if (unwatched)
        note_unguarded(all ? SC_NO_VERDICT_STACK : SC_NO_VERDICT_NEIGHBOURS, unwatched);
}

/* Can a touch by the program come too early for this operation: does it read host memory for the
 * device, write it, or is it a kernel that may? */
static bool is_guardable(const struct sc_op_info *op)
{
    return op->direction == SC_H2D || sc_direction_writes_host(op->direction) ||
           sc_ops_is_kernel(op);
}

/* Leaves the operation unprotected, as its memory may not be protected, and counts it as not
 * watched. In managed memory that the library may read, the first and last page of a source are
 * copied and compared instead; if that covers a small source as a whole, it is watched. */
static void leave_out_all(const struct sc_range_info *range, struct sc_op_info *op)
{
    bool compared = range->kind == SC_MANAGED && range->snapshots != SC_SNAPSHOTS_NONE &&
                    edges_are_compared(op);
    op->shares_pages |= compared;
    if (!compared || !is_small_source(op))
        note_unguarded(SC_NO_VERDICT_MEMORY, sc_shape_hull_bytes(&op->shape));
}

/* Installs the library's handler of SIGSEGV for pages that userfaultfd protects: a touch, or the
 * loss of the descriptor, changes them to mprotect. Success is remembered, and the handler not
 * checked again for each operation, since each touch checks it (user_touches.c). */
static enum sc_takeover install_once(void)
{
    static _Atomic bool is_installed;
    if (atomic_load_explicit(&is_installed, memory_order_relaxed))
        return SC_TAKEOVER_DONE;
    enum sc_takeover takeover = sc_signals_take_over();
    atomic_store_explicit(&is_installed, takeover == SC_TAKEOVER_DONE, memory_order_relaxed);
    return takeover;
}

/* Can these pages be protected now? False: *reason says why not. Starts what that needs: the thread
 * that ends waits (the reaper), and the handler of SIGSEGV. The stack that the thread runs on must
 * not be protected: Linux could not deliver SIGSEGV, and would kill the process. Limits of mappings
 * and of data concern mprotect alone. */
static bool prepare_to_guard(const struct sc_pages *pages, bool by_userfault,
                             enum sc_no_verdict_reason *reason)
{
    *reason = SC_NO_VERDICT_STACK;
    if (sc_thread_stack_overlaps(pages->start, pages->end - pages->start))
        return false;
    *reason = SC_NO_VERDICT_HANDLER;
    if (!sc_reaper_start())
        return false;
    *reason = SC_NO_VERDICT_MAPPINGS;
    if (!by_userfault && !sc_map_budget_allows())
        return false;
    *reason = SC_NO_VERDICT_DATA_LIMIT;
    if (!by_userfault && sc_data_limit_is_set())
        return false;
    *reason = SC_NO_VERDICT_HANDLER;
    enum sc_takeover takeover = by_userfault ? install_once() : sc_signals_take_over();
    if (takeover == SC_TAKEOVER_BLOCKED)
        *reason = SC_NO_VERDICT_BLOCKED;
    return takeover == SC_TAKEOVER_DONE;
}

/* Returns those pages of the allocation that lie in the same area (2 MB of the library's pinned
 * memory) as the address. They are one mapping, and are registered with userfaultfd together:
 * registering a part would split the mapping. */
static struct sc_pages in_area(const struct sc_range_info *range, uintptr_t address)
{
    struct sc_pages pages = sc_spans_pages(guards(), range->address, range->size_bytes);
    uintptr_t area = address - (address - sc_areas.start) % SC_AREAS_BYTES;
    pages.start = pages.start > area ? pages.start : area;
    pages.end = pages.end < area + SC_AREAS_BYTES ? pages.end : area + SC_AREAS_BYTES;
    return pages;
}

/* Registers pages that a copy to the device reads for write-protection by userfaultfd, area by
 * area. `pages` was extended to a whole huge page, and may end after the allocation, where nothing
 * is registered. */
static void adopt_sources(const struct sc_range_info *range, const struct sc_pages *pages)
{
    uintptr_t end = sc_spans_pages(guards(), range->address, range->size_bytes).end;
    for (uintptr_t at = pages->start; at < pages->end && at < end;) {
        struct sc_pages all = in_area(range, at);
        sc_protect_adopt_sources(&all);
        at = all.end;
    }
}

/* Is mprotect the better mechanism for an operation with many pages? Not with guard=uffd, not if
 * threads wait for each other to enter mprotect (Linux lets in one at a time), and not if the
 * handler of SIGSEGV, which it needs, cannot be installed. */
static bool is_mprotect_better(void)
{
    return sc_options.guard != SC_GUARD_UFFD && !sc_map_waits_are_long() &&
           sc_signals_take_over() == SC_TAKEOVER_DONE;
}

/* Chooses between mprotect and userfaultfd by the number of pages, and records the choice for them,
 * by which they are protected and unprotected later. Returns whether userfaultfd guards the
 * operation: never if the memory is not registered with it. Registers a source for write-protection
 * if it only lacks that. */
static __attribute__((noinline)) bool choose_mechanism(const struct sc_range_info *range,
                                                       const struct sc_pages *pages, bool is_source)
{
    size_t size_bytes = pages->end - pages->start;
    if (!sc_userfaults_have_adopted(pages->start, 1))
        return false;
    sc_protect_note_mechanism(pages,
                              size_bytes >= SC_USERFAULTS_LONG_BYTES ||
                                  (size_bytes > SC_USERFAULTS_BRIEF_BYTES && is_mprotect_better()));
    if (is_source && sc_guard_uses_userfault(pages->start, size_bytes, false) &&
        !sc_guard_uses_userfault(pages->start, size_bytes, true))
        adopt_sources(range, pages);
    return sc_guard_uses_userfault(pages->start, size_bytes, is_source);
}

/* Returns whether userfaultfd, and not mprotect, guards the operation's pages, and records that for
 * them. Quick for a few pages that userfaultfd guards already: it is always the cheaper one there.
 * Only the library's own pinned memory (areas) is ever registered with userfaultfd. */
static bool find_mechanism(const struct sc_range_info *range, const struct sc_pages *pages,
                           bool is_source)
{
    size_t size_bytes = pages->end - pages->start;
    if (!sc_areas_have(pages->start))
        return false;
    return (size_bytes <= SC_USERFAULTS_BRIEF_BYTES &&
            sc_guard_uses_userfault(pages->start, size_bytes, is_source)) ||
           choose_mechanism(range, pages, is_source);
}

/* Chooses which pages of a new operation are to be protected, and by which mechanism, and stores
 * that in `op`. Protects nothing yet: the tracker records the operation next, and sc_guard_apply
 * then makes the system calls. `op` stays unguarded if it uses no host memory, the memory may not
 * be protected, no page remains, guard_budget leaves out this call site (`site`, a return address),
 * or protection is not possible now. */
void sc_guard_protect(const struct sc_range_info *range, struct sc_op_info *op, const void *site)
{
    size_t hull_bytes = sc_shape_hull_bytes(&op->shape);
    enum sc_no_verdict_reason reason;
    struct sc_pages pages = sc_spans_pages(guards(), op->shape.address, hull_bytes);
    if (!is_guardable(op))
        return;
    if (!look_up_allowed(range)) {
        leave_out_all(range, op);
        return;
    }
    sc_block_areas_choose(&pages);
    leave_out_foreign(range, op, &pages);
    if (pages.start < pages.end)
        leave_out_contended(range, op, &pages);
    if (pages.start >= pages.end)
        return;
    if (sc_unlikely(sc_guard_budget) && !sc_guard_budget_allows(op->stack, site)) {
        note_unguarded(SC_NO_VERDICT_BUDGET, hull_bytes);
        return;
    }
    bool is_source = !sc_direction_writes_host(op->direction);
    bool by_userfault = find_mechanism(range, &pages, is_source);
    if (!prepare_to_guard(&pages, by_userfault, &reason)) {
        /* nothing is protected: take back the choice of mprotect, if one was recorded */
        if (!by_userfault && sc_areas_have(pages.start))
            sc_protect_note_mechanism(&pages, false);
        note_unguarded(reason, hull_bytes);
        return;
    }
    op->access = is_source ? SC_ACCESS_READ : SC_ACCESS_NONE;
    op->guard_address = pages.start;
    op->guard_bytes = pages.end - pages.start;
}
