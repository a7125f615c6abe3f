#include "interpose/capture/beside.h"

#include <pthread.h>

#include "common/checks.h"
#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/mutex.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/shape.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/driver/addresses.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/streams.h"
#include "report/annotations.h"
#include "report/frame_kinds.h"
#include "track/device_use.h"
#include "track/frozen.h"
#include "track/graph_writes.h"
#include "track/left_out.h"
#include "track/no_verdicts.h"
#include "track/track_parts.h"
#include "track/track_streams.h"

#include "common/poison.h"

/* READ_CHECKS_MAX: after so many operations that were compared with the watched memory, it is
 * watched no more. A program that never launches a graph again would pay for that in each
 * operation. */
enum { OPEN_MAX = 64, READ_CHECKS_MAX = 16384 };

_Atomic unsigned sc_beside_needs, sc_beside_graphs;

/* How many open captures the thread has begun. Too many if another thread has ended one. */
static __thread unsigned own_count __attribute__((tls_model("initial-exec")));

/* A capture that is open. */
struct open_capture {
    const struct sc_stream_record *stream; /* the stream that began it */
    uintptr_t graph;
    int32_t thread;
    int device;
    uint32_t stream_origin; /* track/origins.h */
    struct sc_left_out *left_out;
};

static pthread_mutex_t beside_lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_capture captures[OPEN_MAX] SC_GUARDED_BY(beside_lock);
static unsigned capture_count SC_GUARDED_BY(beside_lock);
static struct sc_frozen frozen SC_GUARDED_BY(beside_lock);
static _Atomic unsigned frozen_count; /* how much memory is watched: for those without the lock */
static unsigned read_checks;          /* since memory was last added */
/* What the last capture used, for the next one, since its pages are there; or NULL. */
static struct sc_left_out *_Atomic spare_left_out;

/* Has this thread begun a capture that is still open, as far as is known? */
bool sc_beside_is_own(void)
{
    return own_count != 0;
}

/* Is any memory watched, after a capture, that launches of its graph should write or read? */
bool sc_beside_is_watching(void)
{
    return atomic_load_explicit(&frozen_count, memory_order_relaxed) != 0;
}

/* Counts work beside captures on which no verdict is given, for the summary. */
static void count_unjudged(uint64_t count)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_CAPTURE,
                       count);
}

/* Ends a BESIDE_LOCKED block: updates the counts that other functions read without the lock, and
 * releases the lock. */
static void unlock_beside(pthread_mutex_t *const *lock) SC_UNFOLLOWED
{
    SC_ASSERT_HELD(&beside_lock);
    unsigned own = 0;
    for (unsigned i = 0; i < capture_count; i++)
        own += captures[i].thread == sc_thread_id();
    own_count = own;
    atomic_store_explicit(&frozen_count, frozen.count, memory_order_relaxed);
    atomic_store_explicit(&sc_beside_graphs, frozen.writes.count, memory_order_relaxed);
    atomic_store_explicit(&sc_beside_needs, capture_count + frozen.count, memory_order_relaxed);
    sc_mutex_leave(lock);
}

/* Holds the lock until the end of the block, for changes of those counts as well. */
#define BESIDE_LOCKED()                                                                            \
    __attribute__((cleanup(unlock_beside), unused)) pthread_mutex_t *const locked_ =               \
        sc_mutex_enter(&beside_lock)

/* ---- captures ---- */

/* Returns an empty record of what a capture takes and what runs beside it: the one that the last
 * capture has left, since its pages are there, or a new one. NULL: no memory. */
static struct sc_left_out *new_left_out(void)
{
    struct sc_left_out *left_out = atomic_exchange(&spare_left_out, NULL);
    if (left_out)
        sc_left_out_clear(left_out);
    return left_out ? left_out : sc_left_out_new();
}

/* Keeps the record of a capture that is over for the next one, and frees the one that was kept
 * before. NULL does nothing. */
static void keep_or_free(struct sc_left_out *left_out)
{
    if (left_out)
        sc_left_out_free(atomic_exchange(&spare_left_out, left_out));
}

/* Copies into the record of a capture that begins what the thread has allocated since another of
 * its captures began that is still open: such memory is being set up, and work on it beside the
 * captures is not reported. */
static void share_allocations(const struct open_capture *capture) SC_REQUIRES(beside_lock)
{
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].thread == capture->thread)
            sc_left_out_share_allocations(capture->left_out, captures[i].left_out);
}

/* Adds a capture to the list of those that are watched. Returns false if there are too many. */
static bool add_capture(const struct open_capture *capture)
{
    BESIDE_LOCKED();
    bool fits = capture_count < OPEN_MAX;
    if (fits) {
        share_allocations(capture);
        captures[capture_count++] = *capture;
        SC_ASSERT(capture_count <= OPEN_MAX);
    }
    return fits;
}

/* Notes in a capture's record that the graph does something that nobody has seen captured, such as
 * a node that was added by hand. It is not known then what launches use, so less is reported. */
static void note_unknown_nodes(struct sc_left_out *left_out)
{
    sc_left_out_note_captured(left_out, &(struct sc_hazard_copy){0},
                              &(struct sc_left_out_op){.is_partly_known = true});
}

/* Called when this thread has begun a capture: prepares a record of what it does from now on, in
 * the capture and beside it. `graph` 0: it is not known what is captured. In a replay (of a call
 * that came through no wrapper) the capture is not watched, since other calls may have passed by as
 * well. */
void sc_beside_note_begun(const struct sc_stream_record *stream, uintptr_t graph, bool has_nodes)
{
    SC_KEEP_ERRNO();
    if (!graph || sc_replaying_is_on())
        return;
    struct open_capture capture = {.stream = stream,
                                   .graph = graph,
                                   .thread = sc_thread_id(),
                                   .device = stream->context->device,
                                   .stream_origin = sc_track_stream(&sc_track, stream->id).origin,
                                   .left_out = new_left_out()};
    if (capture.left_out && has_nodes)
        note_unknown_nodes(capture.left_out);
    if (!capture.left_out || !add_capture(&capture)) {
        keep_or_free(capture.left_out);
        count_unjudged(1);
    }
}

/* Removes the capture that began on the stream from the list of those that are watched, and returns
 * it. `left_out` NULL in what is returned: there is none. */
static struct open_capture take_capture(const struct sc_stream_record *stream)
{
    struct open_capture taken = {0};
    unsigned i = 0;
    BESIDE_LOCKED();
    while (i < capture_count && captures[i].stream != stream)
        i++;
    if (i < capture_count) {
        taken = captures[i];
        SC_ASSERT(capture_count > 0 && capture_count <= OPEN_MAX);
        captures[i] = captures[--capture_count];
    }
    return taken;
}

/* Called when a capture is over in whatever way: drops its record, if it is still in the list.
 * Nothing is reported of a capture that fails, since there is no graph. */
void sc_beside_drop_capture(const struct sc_stream_record *stream)
{
    SC_KEEP_ERRNO();
    if (sc_beside_needs_calls())
        keep_or_free(take_capture(stream).left_out);
}

/* ---- operations ---- */

/* Returns what a report says of the operation: the call, its stream, thread, time and stack. */
static struct sc_hazard_copy describe_copy(const struct sc_beside_op *op)
{
    return (struct sc_hazard_copy){
        .api = op->call->api,
        .stream = op->stream,
        .thread = sc_thread_id(),
        .time_ns = sc_coarse_now_ns(),
        .stack = op->stack ? op->stack : sc_unwind_here(op->call->site),
        .runtime_api = sc_current_call_runtime_api(),
        .correlation_id = sc_current_call_correlation_id(),
    };
}

/* Called when a capture of this thread has taken an operation into `graph`: notes what the graph's
 * launches will do with device memory. After a replay (of a call that came through no wrapper)
 * nothing is concluded any more: allocations among such calls would be missed. `is_first`: the
 * capture began on the operation's stream, and did not merely spread to it. */
void sc_beside_note_captured(const struct sc_beside_op *op, uintptr_t graph)
{
    SC_KEEP_ERRNO();
    if (!own_count)
        return;
    if (sc_replaying_is_on()) {
        sc_beside_note_unknown_write();
        return;
    }
    struct sc_hazard_copy what = describe_copy(op);
    SC_LOCKED(&beside_lock);
    for (unsigned i = 0; i < capture_count; i++) {
        bool is_first = op->stream == (uintptr_t)captures[i].stream->handle;
        what.device = captures[i].device;
        what.stream_origin = is_first ? captures[i].stream_origin : 0;
        if (captures[i].graph == graph && captures[i].thread == sc_thread_id())
            sc_left_out_note_captured(captures[i].left_out, &what, &op->does);
    }
}

/* Returns the hazard that an operation beside a capture may turn out to be (SC305), with the
 * operation as its event. `names_legacy`: an asynchronous call on the legacy stream may be meant to
 * run once, so that the report is an advisory. */
static struct sc_hazard describe_beside(const struct sc_beside_op *op)
{
    struct sc_culprit culprit = {op->call->api, op->call->site, NULL};
    struct sc_hazard hazard = {
        .code = SC305,
        .certainty = SC_LATENT,
        .action = SC_ACTION_REPORTED,
        .buffer_kind = SC_DEVICE,
        .event = sc_hazards_event(&culprit),
        .may_be_meant = op->names_legacy,
    };
    sc_annotations_note(&hazard);
    return hazard;
}

/* Notes, for each open capture of this thread, an operation that has run at once beside it. */
static void note_issued_beside(const struct sc_beside_op *op)
{
    struct sc_hazard what = describe_beside(op);
    BESIDE_LOCKED();
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].thread == sc_thread_id())
            sc_left_out_note_beside(captures[i].left_out, &what, &op->does);
}

/* Compares an operation, of any thread, with the memory that is watched after captures. What it may
 * have written is watched no more. Returns true if it copies to the host what a launch should have
 * written, and has not: then fills in `hazard`. A kernel may write anywhere (address 0), so it ends
 * the wait for memory that no captured work uses. After too many operations nothing is watched any
 * more. */
static bool check_reads(const struct sc_beside_op *op, struct sc_hazard *hazard)
{
    const struct sc_left_out_op *does = &op->does;
    const struct sc_device_use no_address = sc_device_use_named(0);
    bool found = false;
    BESIDE_LOCKED();
    if (does->function)
        sc_frozen_note_use(&frozen, &no_address);
    for (unsigned i = 0; i < sc_left_out_count(does); i++) {
        const struct sc_device_use use = sc_left_out_use(does, i);
        sc_frozen_note_use(&frozen, &use);
        found = sc_frozen_note_copy_to_host(&frozen, &use, hazard) || found;
    }
    if (does->is_partly_known)
        sc_frozen_forget(&frozen);
    else if (++read_checks == READ_CHECKS_MAX)
        count_unjudged(sc_frozen_forget(&frozen));
    return found;
}

/* Reports that the operation has copied to the host what a launch of a graph should have written.
 */
static void report_read(const struct sc_beside_op *op, struct sc_hazard *hazard)
{
    int device = hazard->copy.device;
    hazard->copy = describe_copy(op);
    hazard->copy.device = device;
    hazard->copy.direction = SC_D2H;
    hazard->copy.address = hazard->buffer_address;
    hazard->copy.size_bytes = hazard->buffer_size_bytes;
    hazard->buffer_origin = sc_hazards_origin(hazard->buffer_address);
    sc_reaper_report(hazard);
}

/* Called for an operation that runs at once, on any thread: it may show that memory which is
 * watched should have been written, and if this thread captures, it is noted as work beside the
 * capture. A detour (made on a private stream because of the capture) is reported already, and left
 * out. */
void sc_beside_note_issued(const struct sc_beside_op *op)
{
    SC_KEEP_ERRNO();
    if (sc_replaying_is_on()) {
        sc_beside_note_unknown_write();
        return;
    }
    struct sc_hazard hazard;
    if (sc_beside_is_watching() && check_reads(op, &hazard))
        report_read(op, &hazard);
    if (own_count && !op->is_detour)
        note_issued_beside(op);
}

/* Called behind an allocation: what was noted for these addresses was of other memory. Memory that
 * is allocated during a capture is being set up, so work on it beside the capture is not reported.
 */
void sc_beside_note_allocated(uintptr_t address, size_t size_bytes)
{
    BESIDE_LOCKED();
    for (unsigned i = 0; i < capture_count; i++)
        sc_left_out_note_allocated(captures[i].left_out, address, size_bytes);
    sc_frozen_note_use(&frozen, &(struct sc_device_use){
                                    .shape = {address, size_bytes, size_bytes, 1},
                                    .access = SC_DEVICE_WRITES,
                                });
}

/* Called for work of this thread beside its captures of which it is not known what it writes. Later
 * captured work may read what this work has written, so what their graphs do counts as unknown from
 * here on, and less is reported of them. Memory that is watched after earlier captures may have
 * been written, so it is watched no more. */
void sc_beside_note_unknown_write(void)
{
    BESIDE_LOCKED();
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].thread == sc_thread_id())
            note_unknown_nodes(captures[i].left_out);
    sc_frozen_forget(&frozen);
}

/* Called when a context has ended. The driver may give the handles of its graphs to other graphs,
 * so nothing that is known of graphs holds any longer. */
void sc_beside_forget_graphs(void)
{
    sc_beside_note_unknown_write();
    sc_beside_note_node_changed();
}

/* ---- verdicts ---- */

/* Returns the hazard that a finding stands for: captured work uses memory that only work beside the
 * capture has written, or the other way round. Such a hazard is no advisory. */
static struct sc_hazard describe_found(const struct sc_left_out_finding *finding)
{
    const struct sc_shape *bytes = &finding->captured_use->shape;
    struct sc_hazard hazard = *finding->beside;
    hazard.may_be_meant = false;
    hazard.copy = *finding->captured;
    hazard.copy.direction = finding->captured_use->direction;
    hazard.copy.address = bytes->address;
    hazard.copy.size_bytes = sc_shape_hull_bytes(bytes);
    return hazard;
}

/* Returns the bytes of a finding that are reported and watched: those that the captured work uses.
 * Of a captured kernel only one byte is known, which its parameter names; then, or if no captured
 * work uses the memory, those that the work beside the capture uses. */
static const struct sc_device_use *watched_memory(const struct sc_left_out_finding *finding)
{
    bool is_used = finding->captured && finding->captured_use->access != SC_DEVICE_NAMES;
    return is_used ? finding->captured_use : finding->use;
}

/* Has the memory of a finding watched, with the hazard to report: only later launches of the graph,
 * or copies to the host, show whether the work beside the capture was a mistake. If there is no
 * room, the finding counts as not judged. */
static void watch_memory(const struct sc_left_out_finding *finding, const struct sc_hazard *hazard,
                         uintptr_t graph)
{
    const struct sc_device_use *memory = watched_memory(finding);
    const struct sc_frozen_memory watched = {
        .hazard = *hazard,
        .memory = *memory,
        .base = sc_address_base(memory->shape.address),
        .graph = graph,
        .is_unused = !finding->captured,
    };
    BESIDE_LOCKED();
    if (!sc_frozen_add(&frozen, &watched) && !watched.is_unused)
        count_unjudged(1);
    read_checks = 0;
}

/* Judges a finding of work beside a capture on memory that no captured work uses. Nothing can be
 * concluded yet. The memory is watched only if the work named the legacy stream (may_be_meant: it
 * may have been meant for the capture) and no later work of the thread may use the memory (is_met).
 */
static void judge_unused(const struct open_capture *capture,
                         const struct sc_left_out_finding *finding)
{
    struct sc_hazard hazard = *finding->beside;
    if (hazard.ignored)
        return;
    if (finding->use->access == SC_DEVICE_WRITES && !finding->is_further)
        count_unjudged(1);
    hazard.copy.device = capture->device;
    if (hazard.may_be_meant && !finding->is_met)
        watch_memory(finding, &hazard, capture->graph);
}

/* Called for each piece of work beside a capture that its graph may lack. Work that a library does
 * for itself (by its stack) is left out: it would have done the same before the capture. If
 * captured work writes the memory, the work beside it has read too early, which is reported at
 * once. If it reads the memory, that is a mistake only if a second launch reads the same again: the
 * memory is watched. */
static void judge_finding(void *context, const struct sc_left_out_finding *finding)
{
    const struct open_capture *capture = context;
    if (sc_frame_kind_of_stack(finding->beside->event.stack) != SC_FRAME_USER)
        return;
    if (!finding->captured) {
        judge_unused(capture, finding);
        return;
    }
    struct sc_hazard hazard = describe_found(finding);
    const struct sc_shape *bytes = &watched_memory(finding)->shape;
    hazard.buffer_address = bytes->address;
    hazard.buffer_size_bytes = sc_shape_hull_bytes(bytes);
    hazard.buffer_origin = sc_hazards_origin(bytes->address);
    if (finding->captured_use->access == SC_DEVICE_WRITES)
        sc_reaper_report(&hazard);
    else
        watch_memory(finding, &hazard, capture->graph);
}

/* Asks the driver how many nodes the graph has. Returns false if it does not say. */
static bool count_nodes(uintptr_t graph, size_t *count)
{
    return sc_real.cuGraphGetNodes &&
           sc_real.cuGraphGetNodes((CUgraph)graph, NULL, count) == CUDA_SUCCESS;
}

/* Called when a capture has ended: notes what launches of its graph write. Such a launch may then
 * come between two launches of another graph without hiding what that one lacks. It is unknown if
 * the graph has more nodes (`count`) than were seen captured. Not inlined, so that its locals do
 * not stand on the stack while the driver is asked. */
static __attribute__((noinline)) void note_graph_writes(const struct open_capture *capture,
                                                        bool is_counted, size_t count)
{
    struct sc_graph_write write;
    bool is_known = is_counted && sc_left_out_get_writes(capture->left_out, count, &write);
    BESIDE_LOCKED();
    sc_graph_writes_set(&frozen.writes, capture->graph, is_known ? &write : NULL);
}

/* Called when the driver has successfully ended the capture that began on the stream: only now is
 * there a graph. Judges which work beside the capture the graph lacks. */
void sc_beside_note_ended(const struct sc_stream_record *stream)
{
    SC_KEEP_ERRNO();
    if (!sc_beside_needs_calls())
        return;
    struct open_capture capture = take_capture(stream);
    if (!capture.left_out)
        return;
    size_t count = 0;
    bool is_counted = count_nodes(capture.graph, &count);
    note_graph_writes(&capture, is_counted, count);
    sc_left_out_visit_findings(capture.left_out, sc_address_base, judge_finding, &capture);
    count_unjudged(sc_left_out_count_dropped(capture.left_out));
    keep_or_free(capture.left_out);
}

/* ---- graphs ---- */

/* Called when an exec was made from a captured graph, or updated by one: its launches read and
 * write what the graph's do. */
void sc_beside_note_instantiated(uintptr_t graph, uintptr_t exec)
{
    BESIDE_LOCKED();
    sc_frozen_note_instantiated(&frozen, graph, exec);
}

/* Called before a graph or exec is destroyed, and when an exec was changed: what is known of its
 * launches does not hold any more. */
void sc_beside_forget_handle(uintptr_t handle)
{
    BESIDE_LOCKED();
    sc_frozen_forget_handle(&frozen, handle);
}

/* Called when a node was added to a graph by hand, of which it is not known what it does. Execs
 * that were made before stay as they are, and so does what is known of them. */
void sc_beside_note_node_added(uintptr_t graph)
{
    BESIDE_LOCKED();
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].graph == graph)
            note_unknown_nodes(captures[i].left_out);
    sc_frozen_forget_handle(&frozen, graph);
}

/* Called when a node of some graph was changed or destroyed: it is not known of which. */
void sc_beside_note_node_changed(void)
{
    BESIDE_LOCKED();
    sc_frozen_note_changed(&frozen);
}

/* Notes a launch of an instantiated graph (exec) by this thread: it reads memory that is watched,
 * or may write it. */
static void note_launch(uintptr_t exec)
{
    BESIDE_LOCKED();
    sc_frozen_note_launch(&frozen, exec, sc_thread_id());
}

/* Stores the next hazard that a launch has shown, to be reported without the lock, and drops it
 * from the list. Returns false if there is none. */
static bool take_hazard(struct sc_hazard *hazard)
{
    BESIDE_LOCKED();
    return sc_frozen_take_hazard(&frozen, hazard);
}

/* Called behind a launch: if it is the second one that reads what work beside the graph's capture
 * has left in memory, nothing has written there since, and the graph lacks that work: reports it. A
 * replay before the driver's call notes nothing: it runs again behind the call. */
void sc_beside_note_launched(uintptr_t exec)
{
    SC_KEEP_ERRNO();
    struct sc_hazard hazard;
    if (!sc_beside_is_watching() || sc_replaying_prepares())
        return;
    note_launch(exec);
    while (take_hazard(&hazard))
        sc_reaper_report(&hazard);
}
