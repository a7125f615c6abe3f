/* Keeps the list of open stream captures, to know which call breaks which capture.
 *
 * While nothing has ever captured, each function here but sc_captures_report is one relaxed load.
 * Thread-safe. Locks: one of its own, within which only that of beside.h is taken. Not for a signal
 * handler. */

/* Terms (docs/glossary.md):
 *   gate: what keeps operations of the legacy stream and beginnings of captures apart
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   permit: leave for a call that no capture allows: it is made under the relaxed capture mode
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CAPTURE_CAPTURES_H
#define SC_INTERPOSE_CAPTURE_CAPTURES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/checks.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/streams.h"

enum sc_action;
enum sc_hazard_code;
struct sc_call;
struct sc_context;

/* Where a capture began. */
struct sc_capture_begin {
    const char *api;
    const char *runtime_api; /* NULL: none, or unknown */
    uintptr_t stream;
    uint64_t time_ns;
    int device;
    int32_t thread;
    uint32_t stack;
    uint32_t stream_origin; /* track/origins.h */
};

/* An open capture: who began it, and in which way. */
struct sc_capture {
    struct sc_stream_record *stream; /* the stream that began it */
    uint64_t name;                   /* its serial number, which no other capture ever has */
    CUstreamCaptureMode mode;
    /* the graph that the capture adds to; 0: unknown, since the driver tells it of valid captures
     * alone */
    uintptr_t graph;
    /* the program has made the graph that is captured into, so the graph stays if the capture fails
     */
    bool to_graph;
    struct sc_capture_begin begin;
};

/* 0 or -ENOMEM. */
int sc_captures_init(void);

/* How many captures are open. */
extern _Atomic unsigned sc_captures_count;

static inline bool sc_captures_any_open(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_captures_count, memory_order_relaxed) != 0, 0);
}

/* Adds a capture that the driver is about to begin. It counts as open from now on, since a call of
 * another thread can break it before this thread learns that it has begun. Records marks after what
 * was issued on the stream, since none can be recorded there while it captures. `to_graph`: the
 * program has made the graph that is captured into. Returns the capture's name; 0: there is no
 * room. Locks: holds the stream's lock on return. */
uint64_t sc_captures_beginning(struct sc_stream_record *stream, CUstreamCaptureMode mode,
                               bool to_graph, const struct sc_call *call) SC_ACQUIRES(stream->lock);

/* Called when the driver has returned: releases the stream's lock, and removes the capture unless
 * it has begun. */
void sc_captures_began(struct sc_stream_record *stream, uint64_t name, bool begun)
    SC_RELEASES(stream->lock);

/* Returns the graph of the capture that the stream began, if it ends when the capture fails; else
 * 0. */
uintptr_t sc_captures_own_graph(const struct sc_stream_record *stream);

/* Removes the stream's capture if it has ended. Called when it, or the stream itself, may have
 * ended. */
void sc_captures_ended(struct sc_stream_record *stream);

/* Removes the captures of a context that has ended. */
void sc_captures_forget_of_context(const struct sc_context *context);

/* Called around a call that makes the stream capture. Shuts the gate (legacy_gate.h) if operations
 * on the legacy stream would break the capture. Returns whether the gate was shut, for
 * sc_captures_open_gate. */
bool sc_captures_shut_gate(const struct sc_stream_record *stream);
void sc_captures_open_gate(bool shut);

/* Called before the stream waits for an event, by which it may join a capture: records marks after
 * what was issued on the stream. */
void sc_captures_note_joining(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* How many events are known to have been recorded in a capture. */
extern _Atomic unsigned sc_captures_event_count;

static inline bool sc_captures_knows_events(void)
{
    return __builtin_expect(
        atomic_load_explicit(&sc_captures_event_count, memory_order_relaxed) != 0, 0);
}

/* Notes that the event was recorded in a stream that captures. `stream` NULL: it was recorded in
 * one that does not, or destroyed. */
void sc_captures_note_event(CUevent event, struct sc_stream_record *stream);

/* Returns true if the event was last recorded in a capture that is still open. */
bool sc_captures_is_captured_event(CUevent event);

/* Returns the capture that an operation on the context's legacy stream would break; the latest if
 * there are several. */
struct sc_capture sc_captures_find_blocking(const struct sc_context *context);

/* Returns the capture that the stream belongs to, as far as it is known: the one that began on it,
 * or else another one of its context. */
struct sc_capture sc_captures_find_of_stream(const struct sc_stream_record *stream);

/* Reports what the call has done to the capture that began at `begin`. errno is kept. */
void sc_captures_report(enum sc_hazard_code code, enum sc_action action,
                        const struct sc_capture_begin *begin, const struct sc_call *call);

/* Returns true if the calling thread began the capture. */
bool sc_captures_is_own(const struct sc_capture *capture);

/* Finds a capture that would be broken if this thread made a call that no capture permits
 * (permits.h): one that the thread itself began, or else one of another thread. Returns false if
 * there is none. */
bool sc_captures_find_endangered(struct sc_capture *endangered);

/* Sets the thread's capture mode: the relaxed one, so that calls of nested wrappers break no
 * capture, or the former one again, which it returns. */
CUstreamCaptureMode sc_captures_exchange_mode(CUstreamCaptureMode mode);

/* Returns true if the calling thread's capture mode is relaxed, by the program or by
 * sc_captures_exchange_mode: then no call of the thread breaks a capture. */
bool sc_captures_mode_is_relaxed(void);

#endif
