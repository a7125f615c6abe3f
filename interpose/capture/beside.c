#include "interpose/capture/beside.h"

#include <pthread.h>

#include "common/checks.h"
#include "common/hazard.h"
#include "common/hazard_words.h"
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

/* READ_CHECKS_MAX: after so many operations that are held against the watched memory, it is watched
 * no more. */
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

bool sc_beside_is_own(void)
{
    return own_count != 0;
}

bool sc_beside_is_watching(void)
{
    return atomic_load_explicit(&frozen_count, memory_order_relaxed) != 0;
}

static void count_unjudged(uint64_t count)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_CAPTURE,
                       count);
}

/* Updates the counts that other functions read without the lock, and releases the lock. */
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
    sc_checks_leave(lock);
}

/* Holds the lock until the end of the block, for changes of those counts as well. */
#define BESIDE_LOCKED()                                                                            \
    __attribute__((cleanup(unlock_beside), unused)) pthread_mutex_t *const locked_ =               \
        sc_checks_enter(&beside_lock)

/* ---- captures ---- */

/* Returns a record for a new capture: one that is kept, or a new one. */
static struct sc_left_out *new_left_out(void)
{
    struct sc_left_out *left_out = atomic_exchange(&spare_left_out, NULL);
    if (left_out)
        sc_left_out_clear(left_out);
    return left_out ? left_out : sc_left_out_new();
}

/* Keeps the record for the next capture, in place of one that is kept. NULL does nothing. */
static void keep_or_free(struct sc_left_out *left_out)
{
    if (left_out)
        sc_left_out_free(atomic_exchange(&spare_left_out, left_out));
}

/* Copies into the capture's record what the thread has allocated since another of its captures
 * began that is still open: that memory is being set up for both. */
static void share_allocations(const struct open_capture *capture) SC_REQUIRES(beside_lock)
{
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].thread == capture->thread)
            sc_left_out_share_allocations(capture->left_out, captures[i].left_out);
}

/* Adds an open capture. Returns false if there are too many. */
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

/* Notes that the graph does something that was not captured (a node was added by hand), so that it
 * is not known what its launches use. */
static void note_unknown_nodes(struct sc_left_out *left_out)
{
    sc_left_out_note_captured(left_out, &(struct sc_hazard_copy){0},
                              &(struct sc_left_out_op){.is_partly_known = true});
}

/* Prepares a record of what the thread does from now on, in this capture and beside it. */
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

/* Removes the capture that began on the stream from the list, and returns it. Its left_out is NULL
 * if there is none. */
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

void sc_beside_drop_capture(const struct sc_stream_record *stream)
{
    SC_KEEP_ERRNO();
    if (sc_beside_needs_calls())
        keep_or_free(take_capture(stream).left_out);
}

/* ---- operations ---- */

/* Describes the operation as a hazard's copy. */
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

/* Notes an operation that the capture has taken: the graph will repeat it. */
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

/* Describes work beside a capture as the event of the hazard that it may turn out to be. */
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

/* Notes work of the thread that ran beside its captures. */
static void note_issued_beside(const struct sc_beside_op *op)
{
    struct sc_hazard what = describe_beside(op);
    BESIDE_LOCKED();
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].thread == sc_thread_id())
            sc_left_out_note_beside(captures[i].left_out, &what, &op->does);
}

/* Compares the operation's uses with the watched memory. Returns true if the operation reads what a
 * launch should have written: then fills in `hazard`. */
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

/* Reports that the operation has read what a launch should have written. */
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

/* Notes work that was issued beside captures. It may write what a captured operation reads, or read
 * what only a launch will write. */
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

/* Forgets what was noted for these addresses, since the memory is new. */
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

/* Notes work beside captures of which nothing is known. What the captured graphs do counts as
 * unknown as well, since later captured work may read what this work has written. */
void sc_beside_note_unknown_write(void)
{
    BESIDE_LOCKED();
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].thread == sc_thread_id())
            note_unknown_nodes(captures[i].left_out);
    sc_frozen_forget(&frozen);
}

/* Handles that end with a context may be given to other graphs: nothing that is known of graphs
 * holds any longer. */
void sc_beside_forget_graphs(void)
{
    sc_beside_note_unknown_write();
    sc_beside_note_node_changed();
}

/* ---- verdicts ---- */

/* Describes the hazard that captured work may read what only work beside the capture has written.
 */
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

/* Returns the memory to watch: all that the captured work uses. A captured kernel is known by one
 * byte only, which its parameter names: then what the work beside it uses. */
static const struct sc_device_use *watched_memory(const struct sc_left_out_finding *finding)
{
    bool is_used = finding->captured && finding->captured_use->access != SC_DEVICE_NAMES;
    return is_used ? finding->captured_use : finding->use;
}

/* Watches the finding's memory: later launches and reads show whether the work beside the capture
 * was a hazard. */
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

/* Judges work on memory that no captured work uses. Nothing can be concluded yet, so the memory may
 * be watched. */
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

/* Judges one finding. Skips work of a library itself: a library that sets itself up beside the
 * capture would have done the same before it. */
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

static bool count_nodes(uintptr_t graph, size_t *count)
{
    return sc_real.cuGraphGetNodes &&
           sc_real.cuGraphGetNodes((CUgraph)graph, NULL, count) == CUDA_SUCCESS;
}

/* Notes what launches of the graph write. That is unknown if the graph has nodes that were not
 * seen. Not inlined, so that its local variables are not on the stack while the driver is asked. */
static __attribute__((noinline)) void note_graph_writes(const struct open_capture *capture,
                                                        bool is_counted, size_t count)
{
    struct sc_graph_write write;
    bool is_known = is_counted && sc_left_out_get_writes(capture->left_out, count, &write);
    BESIDE_LOCKED();
    sc_graph_writes_set(&frozen.writes, capture->graph, is_known ? &write : NULL);
}

/* Judges what the graph lacks, when the capture has ended. */
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

void sc_beside_note_instantiated(uintptr_t graph, uintptr_t exec)
{
    BESIDE_LOCKED();
    sc_frozen_note_instantiated(&frozen, graph, exec);
}

void sc_beside_forget_handle(uintptr_t handle)
{
    BESIDE_LOCKED();
    sc_frozen_forget_handle(&frozen, handle);
}

/* Notes that a node was added of which nobody knows what it does. */
void sc_beside_note_node_added(uintptr_t graph)
{
    BESIDE_LOCKED();
    for (unsigned i = 0; i < capture_count; i++)
        if (captures[i].graph == graph)
            note_unknown_nodes(captures[i].left_out);
    sc_frozen_forget_handle(&frozen, graph); /* execs that were made before stay as they are */
}

void sc_beside_note_node_changed(void)
{
    BESIDE_LOCKED();
    sc_frozen_note_changed(&frozen);
}

static void note_launch(uintptr_t exec)
{
    BESIDE_LOCKED();
    sc_frozen_note_launch(&frozen, exec, sc_thread_id());
}

/* Takes a hazard that was found under the lock, to be reported without it. Returns false if there
 * is none. */
static bool take_hazard(struct sc_hazard *hazard)
{
    BESIDE_LOCKED();
    return sc_frozen_take_hazard(&frozen, hazard);
}

/* Reports work that ran beside a capture and that the graph lacks, when a launch reads what that
 * work has left for the second time. */
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
