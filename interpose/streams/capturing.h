/* Does a stream capture, and into which graph? The driver's answers, kept until captures change.
 *
 * The functions that ask need the stream's handle to be alive. They disturb no capture. Lock-free,
 * thread-safe. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_STREAMS_CAPTURING_H
#define SC_INTERPOSE_STREAMS_CAPTURING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/driver/driver.h"

struct sc_capturing;

/* What the driver said last of a stream, each with the version of captures in which it said so.
 * Zero: it was not asked. */
struct sc_capturing {
    _Atomic uint64_t state; /* version, and bit 0: it captures */
    _Atomic uint64_t graph_version;
    _Atomic uintptr_t graph; /* that its capture adds to */
};

/* Has anything ever captured? One relaxed load. */
extern _Atomic bool sc_capturing_was_seen;
void sc_capturing_note(void);

static inline bool sc_capturing_seen(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_capturing_was_seen, memory_order_relaxed));
}

/* Streams may capture, or not any more, that did otherwise before: called after each such change.
 * Until the next one, the driver is asked about a stream only once. */
void sc_capturing_changed(void);

/* By asking the driver. True also if it does not say. */
bool sc_capturing_may_be_on(CUstream handle);

/* Is a capture open on the stream? */
bool sc_capturing_is_on(struct sc_capturing *capturing, CUstream handle);

/* The graph that a capture of the stream adds to; 0 if the driver does not say. */
uintptr_t sc_capturing_graph(struct sc_capturing *capturing, CUstream handle);

#endif
