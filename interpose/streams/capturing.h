/* Tells whether a stream captures, and into which graph. Keeps the driver's answers until a capture
 * begins or ends anywhere.
 *
 * The functions that ask need a stream whose handle is alive. They break no capture. Lock-free,
 * thread-safe. Not for a signal handler: the driver is called. */
#ifndef SC_INTERPOSE_STREAMS_CAPTURING_H
#define SC_INTERPOSE_STREAMS_CAPTURING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/driver/driver.h"

struct sc_capturing;

/* The driver's last answers about a stream, so that it is asked once and not by each call. Each is
 * kept with the version: how often a capture of the process had begun or ended then. 0: the driver
 * was not asked yet. */
struct sc_capturing {
    _Atomic uint64_t state; /* the version; bit 0: it captures */
    _Atomic uint64_t graph_version;
    _Atomic uintptr_t graph; /* the graph that the stream's capture adds to */
};

/* Whether a capture was ever begun in the process. note is called when one begins; seen asks, by
 * one relaxed load, so that programs without captures pay for nothing else. */
extern _Atomic bool sc_capturing_was_seen;
void sc_capturing_note(void);

static inline bool sc_capturing_seen(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_capturing_was_seen, memory_order_relaxed));
}

/* Called around a wait of the library's for a whole context, which would break any capture. The
 * thread then asks whether something captures (or may), and only if not makes the wait. A capture
 * is noted first, and then calls await_waits before the driver begins it, so one of the two sees
 * the other. It waits for a tenth of a second at most: by then the driver has taken the wait, which
 * may take as long as the device has work. */
void sc_capturing_wait_begins(void);
void sc_capturing_wait_ends(void);
void sc_capturing_await_waits(void);

/* Called whenever a stream has begun or ended a capture: makes the kept answers invalid, so that
 * the driver is asked again, once for each stream. */
void sc_capturing_changed(void);

/* Asks the driver whether the stream captures. Returns true also if the driver does not answer, so
 * that the caller makes no call that would break a capture. */
bool sc_capturing_may_be_on(CUstream handle);

/* Returns true if a capture is open on the stream: work on it becomes nodes of a graph.
 * `capturing`: the stream's own record of answers. */
bool sc_capturing_is_on(struct sc_capturing *capturing, CUstream handle);

/* Returns the graph into which the stream's open capture goes; 0 if the driver does not say. */
uintptr_t sc_capturing_graph(struct sc_capturing *capturing, CUstream handle);

#endif
