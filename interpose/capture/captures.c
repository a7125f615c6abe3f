#include "interpose/capture/captures.h"

#include "common/checks.h"
#include "common/handles.h"
#include "common/hazard.h"
#include "common/mutex.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/points.h"
#include "common/trace.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/capture/beside.h"
#include "interpose/capture/detours.h"
#include "interpose/capture/legacy_gate.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "interpose/driver/wrap.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "track/track_streams.h"

#include "common/poison.h"

enum { OPEN_MAX = 256 };

_Atomic unsigned sc_captures_count;

/* Captures that are open, in the order in which they began. Captures beyond OPEN_MAX are not known,
 * and calls that break them are not healed. */
static pthread_mutex_t captures_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_capture captures[OPEN_MAX] SC_GUARDED_BY(captures_lock);

/* The mode that the program has given the thread, by cuThreadExchangeStreamCaptureMode. */
static __thread CUstreamCaptureMode thread_mode __attribute__((tls_model("initial-exec")));

/* Events that were last recorded in a capture -> the capture's name, its serial number. The graph's
 * handle would not do as a name: when a graph is destroyed the driver gives its handle to another
 * one. unknown_name: that of any capture that is not in the list. */
static const uint64_t unknown_name = UINT64_MAX;
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_handles captured_events;
_Atomic unsigned sc_captures_event_count;

/* Makes the table of captured events, when the library starts. 0 or -ENOMEM. */
int sc_captures_init(void)
{
    return sc_handles_init(&captured_events);
}

/* Returns how many captures are in the list of open ones. */
static unsigned open_count(void)
{
    return atomic_load_explicit(&sc_captures_count, memory_order_relaxed);
}

/* ---- begin and end ---- */

/* Called before the stream begins to capture, or joins a capture: records two events behind its
 * work, since none of the library's can be recorded there until the capture ends. The mark tells
 * when that work is complete; the fence is what a private stream waits for that stands in for the
 * legacy stream meanwhile (a detour). A stream that captures already has both. */
static void mark_before_capture_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    if (sc_streams_is_capturing(stream))
        return;
    sc_marks_add_locked(stream);
    if (sc_captures_are_repaired())
        sc_marks_fence_locked(stream);
}

/* Adds the capture to the list of open ones, and returns its name (a serial number). Returns 0 if
 * there is no room: then the capture is not known. */
static uint64_t add_capture(struct sc_capture *capture)
{
    static uint64_t made;
    SC_LOCKED(&captures_lock);
    if (open_count() < OPEN_MAX) {
        capture->name = ++made;
        captures[open_count()] = *capture;
        atomic_fetch_add(&sc_captures_count, 1);
        SC_ASSERT(open_count() <= OPEN_MAX);
    }
    return capture->name;
}

/* Called before the driver begins a capture: adds it to the list of open ones, with what a report
 * says of its begin. The stream's lock stays held until sc_captures_began, so that the library
 * records no event on the stream meanwhile, which would be captured. */
uint64_t sc_captures_beginning(struct sc_stream_record *stream, CUstreamCaptureMode mode,
                               bool to_graph, const struct sc_call *call)
{
    SC_TRACE("capture-begin stream mode", stream->id, mode);
    struct sc_capture capture = {
        .stream = stream,
        .mode = mode,
        .to_graph = to_graph,
        .begin = {.api = call->api,
                  .stream = (uintptr_t)stream->handle,
                  .device = stream->context->device,
                  .thread = sc_thread_id(),
                  .time_ns = sc_now_ns(),
                  .stack = sc_unwind_here(call->site),
                  .runtime_api = sc_current_call_runtime_api(),
                  .stream_origin = sc_track_stream(&sc_track, stream->id).origin},
    };
    sc_mutex_lock(&stream->lock);
    mark_before_capture_locked(stream);
    return add_capture(&capture);
}

/* Removes the capture with this index from the list of open ones, and what was noted of work beside
 * it. The others keep their order. */
static void remove_locked(unsigned i) SC_REQUIRES(captures_lock)
{
    SC_ASSERT_HELD(&captures_lock);
    sc_beside_drop_capture(captures[i].stream);
    SC_ASSERT(i < open_count() && open_count() <= OPEN_MAX);
    for (; i + 1 < open_count(); i++)
        captures[i] = captures[i + 1];
    atomic_fetch_sub(&sc_captures_count, 1);
}

/* Returns the index in the list of the capture with this name (serial number); the length of the
 * list: it is not there. */
static unsigned find_locked(uint64_t name) SC_REQUIRES(captures_lock)
{
    SC_ASSERT_HELD(&captures_lock);
    unsigned i = 0;
    while (i < open_count() && captures[i].name != name)
        i++;
    return i;
}

/* Called when the driver has answered the beginning of a capture, with the stream's lock held,
 * which it releases: stores which graph the capture adds to, or removes the capture if the driver
 * has refused. `name` 0: the list had no room for it. */
void sc_captures_began(struct sc_stream_record *stream, uint64_t name, bool begun)
{
    SC_ASSERT_HELD(&stream->lock);
    SC_TRACE("capture-began stream name begun", stream->id, name, begun);
    sc_capturing_changed();
    uintptr_t graph = begun ? sc_streams_graph(stream) : 0;
    sc_mutex_unlock(&stream->lock);
    sc_mutex_lock(&captures_lock);
    unsigned i = find_locked(name);
    if (name && i < open_count()) {
        if (begun)
            captures[i].graph = graph;
        else
            remove_locked(i);
    }
    sc_mutex_unlock(&captures_lock);
}

/* Returns the graph that the stream's capture makes, which does not exist any more if the capture
 * fails; 0: the stream captures nothing, or into a graph of the program's, which stays. */
uintptr_t sc_captures_own_graph(const struct sc_stream_record *stream)
{
    uintptr_t graph = 0;
    SC_LOCKED(&captures_lock);
    for (unsigned i = 0; i < open_count(); i++)
        if (captures[i].stream == stream)
            graph = captures[i].to_graph ? 0 : captures[i].graph;
    return graph;
}

/* Removes the capture that began on the stream from the list. Returns false if there is none. */
static bool remove_capture(const struct sc_stream_record *stream)
{
    SC_LOCKED(&captures_lock);
    for (unsigned i = 0; i < open_count(); i++)
        if (captures[i].stream == stream) {
            remove_locked(i);
            return true;
        }
    return false;
}

/* Called when a capture, or its stream, may have ended. If it has, removes it from the list, and
 * makes the waits that streams could not make because of it (for operations that were made on a
 * private stream meanwhile). */
void sc_captures_ended(struct sc_stream_record *stream)
{
    SC_KEEP_ERRNO();
    sc_capturing_changed();
    if (sc_captures_any_open() && (sc_stream_is_gone(stream) || !sc_streams_is_capturing(stream)) &&
        remove_capture(stream))
        sc_detours_make_owed_waits();
}

/* Removes one capture of the context from the list. *graph: the graph that ends with it; 0: the
 * program had made the graph. Returns false if the context has no more captures. */
static bool remove_capture_in(const struct sc_context *context, uintptr_t *graph)
{
    unsigned i = 0;
    SC_LOCKED(&captures_lock);
    while (i < open_count() && captures[i].stream->context != context)
        i++;
    bool found = i < open_count();
    *graph = found && !captures[i].to_graph ? captures[i].graph : 0;
    if (found)
        remove_locked(i);
    return found;
}

/* Called when a context has ended: removes its captures, and forgets their graphs and all that is
 * known of what graphs write, since handles may be given to other graphs. */
void sc_captures_forget_of_context(const struct sc_context *context)
{
    uintptr_t graph;
    bool ended = false;
    if (sc_beside_follows_graphs() && sc_active())
        sc_beside_forget_graphs();
    for (; remove_capture_in(context, &graph); ended = true)
        sc_reaper_forget_graph(graph);
    sc_capturing_changed();
    if (ended)
        sc_detours_make_owed_waits();
}

/* Called before the stream waits for an event, by which it may join a capture. While none is open,
 * it cannot. */
void sc_captures_note_joining(struct sc_stream_record *stream)
{
    SC_ASSERT_HELD(&stream->lock);
    if (sc_captures_any_open())
        mark_before_capture_locked(stream);
}

/* Finds the capture to name in a report. Returns the latest one of the context for which
 * `is_better` returns true; else the context's first one; if the context has none, the latest of
 * all, which streams of this context may have joined; if none is open, a record that says so
 * little. */
static struct sc_capture find_capture(const struct sc_context *context,
                                      bool (*is_better)(const struct sc_stream_record *first,
                                                        const void *argument),
                                      const void *argument)
{
    struct sc_capture found = {
        .begin = {.api = "cuStreamBeginCapture_v2", .device = context->device}};
    SC_LOCKED(&captures_lock);
    for (unsigned i = 0; i < open_count(); i++)
        if (captures[i].stream->context == context &&
            (!found.stream || is_better(captures[i].stream, argument)))
            found = captures[i];
    if (!found.stream && open_count())
        found = captures[open_count() - 1];
    return found;
}

/* For find_capture: did the capture begin on a blocking stream? */
static bool is_blocking(const struct sc_stream_record *first, const void *unused)
{
    (void)unused;
    return first->kind == SC_STREAM_BLOCKING;
}

/* For find_capture: did the capture begin on the stream `stream`? */
static bool is_this_stream(const struct sc_stream_record *first, const void *stream)
{
    return first == stream;
}

/* Returns the capture that an operation on the context's legacy stream would break: one of a
 * blocking stream, since the legacy stream would have to wait for that. */
struct sc_capture sc_captures_find_blocking(const struct sc_context *context)
{
    return find_capture(context, is_blocking, NULL);
}

/* Returns the capture that the stream belongs to, as far as it is known, for a report. */
struct sc_capture sc_captures_find_of_stream(const struct sc_stream_record *stream)
{
    return find_capture(stream->context, is_this_stream, stream);
}

/* Reports a call that has broken the capture which began at `begin`, or would have without the
 * repair (`action`). */
void sc_captures_report(enum sc_hazard_code code, enum sc_action action,
                        const struct sc_capture_begin *begin, const struct sc_call *call)
{
    const struct sc_hazard_copy copy = {
        .api = begin->api,
        .direction = SC_NO_DIRECTION,
        .stream = begin->stream,
        .device = begin->device,
        .thread = begin->thread,
        .time_ns = begin->time_ns,
        .stack = begin->stack,
        .runtime_api = begin->runtime_api,
        .stream_origin = begin->stream_origin,
    };
    sc_hazards_report_capture(code, action, &copy, SC_CULPRIT_OF(call));
}

/* ---- captured events ---- */

/* Returns the name (serial number) of the capture in which the event was last recorded; 0: in none.
 */
static uint64_t capture_of_event(CUevent event)
{
    return event && sc_captures_knows_events() ? sc_handles_get(&captured_events, (uintptr_t)event)
                                               : 0;
}

/* Returns the name (serial number) of the open capture that adds to the graph; unknown_name: none
 * that is known does. */
static uint64_t capture_of_graph(uintptr_t graph)
{
    uint64_t name = unknown_name;
    SC_LOCKED(&captures_lock);
    for (unsigned i = 0; graph && i < open_count(); i++)
        if (captures[i].graph == graph)
            name = captures[i].name;
    return name;
}

/* Was the event last recorded in a capture that is still open? A wait for it then joins a stream
 * into that capture. Of a capture that is not known, any open one counts. */
bool sc_captures_is_captured_event(CUevent event)
{
    uint64_t name = capture_of_event(event);
    if (!name)
        return false;
    SC_LOCKED(&captures_lock);
    for (unsigned i = 0; i < open_count(); i++)
        if (captures[i].name == name || name == unknown_name)
            return true;
    return false;
}

/* Notes that the event was recorded in the capture of this stream; NULL: in none, or destroyed. The
 * lock is taken only if that changes anything. */
void sc_captures_note_event(CUevent event, struct sc_stream_record *stream)
{
    uint64_t name = stream ? capture_of_graph(sc_streams_graph(stream)) : 0;
    if (sc_likely(capture_of_event(event) == name))
        return;
    SC_LOCKED(&events_lock);
    if (name)
        sc_handles_put(&captured_events, (uintptr_t)event, name);
    else
        sc_handles_remove(&captured_events, (uintptr_t)event);
    atomic_store_explicit(&sc_captures_event_count, captured_events.count, memory_order_relaxed);
}

/* ---- calls that no capture permits, and the modes by which they go ---- */

/* Is the thread's capture mode relaxed, so that its calls break no capture? */
bool sc_captures_mode_is_relaxed(void)
{
    return thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

/* Has the calling thread begun the capture? */
bool sc_captures_is_own(const struct sc_capture *capture)
{
    return capture->begin.thread == sc_thread_id();
}

/* Would a call of this thread that no capture permits (cudaMalloc) break this capture? The driver's
 * rule: never in a relaxed thread; a capture of the thread itself unless the capture is relaxed;
 * one of another thread if both the capture and the calling thread are in the global mode. */
static bool is_broken_by_call(const struct sc_capture *capture)
{
    if (sc_captures_mode_is_relaxed())
        return false;
    if (sc_captures_is_own(capture))
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

/* Stores an open capture that a call of this thread which no capture permits would break, and
 * returns whether there is one. One that the thread itself has begun is preferred: the report is
 * then another one (SC302, not SC303). */
bool sc_captures_find_endangered(struct sc_capture *endangered)
{
    bool found = false;
    bool own = false;
    SC_LOCKED(&captures_lock);
    for (unsigned i = 0; i < open_count() && !own; i++) {
        if (!is_broken_by_call(&captures[i]))
            continue;
        *endangered = captures[i];
        own = sc_captures_is_own(endangered);
        found = true;
    }
    return found;
}

/* Sets the thread's capture mode for as long as the library makes a call for the program, and
 * returns the former one, to be restored. If the driver refuses, the mode stays. */
CUstreamCaptureMode sc_captures_exchange_mode(CUstreamCaptureMode mode)
{
    CUstreamCaptureMode before = thread_mode;
    CUstreamCaptureMode exchanged = mode;
    if (sc_real.cuThreadExchangeStreamCaptureMode &&
        sc_real.cuThreadExchangeStreamCaptureMode(&exchanged) == CUDA_SUCCESS)
        thread_mode = mode;
    return before;
}

/* Notes the mode that the program gives the thread. */
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    SC_WRAPPER(cuThreadExchangeStreamCaptureMode);
    CUstreamCaptureMode wanted = mode ? *mode : CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUresult result = real(mode);
    if (result == CUDA_SUCCESS)
        thread_mode = wanted;
    return result;
}

/* ---- the gate ---- */

/* Called before the stream begins to capture: keeps operations of other threads off the legacy
 * stream until sc_captures_open_gate, since they would break the capture. Returns whether it does.
 * Only captures on blocking streams are broken so; and without capture=repair nothing is repaired.
 */
bool sc_captures_shut_gate(const struct sc_stream_record *stream)
{
    bool shut = stream->kind == SC_STREAM_BLOCKING && sc_captures_are_repaired();
    if (shut)
        sc_legacy_gate_shut();
    return shut;
}

/* Lets operations on the legacy stream pass again, if sc_captures_shut_gate has returned `shut`
 * true. */
void sc_captures_open_gate(bool shut)
{
    if (shut)
        sc_legacy_gate_open();
}
