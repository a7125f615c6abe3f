/* Does a stream capture, and into which graph? The driver's answers are kept until captures change.
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

/* The driver's last answers about a stream. Each has the version of captures in which it was given.
 * Zero: the driver was not asked. */
struct sc_capturing {
    _Atomic uint64_t state; /* version, and bit 0: it captures */
    _Atomic uint64_t graph_version;
    _Atomic uintptr_t graph; /* the graph that the stream's capture adds to */
};

/* Has anything ever captured? One relaxed load. */
extern _Atomic bool sc_capturing_was_seen;
void sc_capturing_note(void);

static inline bool sc_capturing_seen(void)
{
    return sc_unlikely(atomic_load_explicit(&sc_capturing_was_seen, memory_order_relaxed));
}

/* Called whenever a stream has begun to capture or has ended: from now on the kept answers are
 * asked for anew, once for each stream. */
void sc_capturing_changed(void);

/* Asks the driver whether the stream captures. True also if the driver does not answer. */
bool sc_capturing_may_be_on(CUstream handle);

/* Is a capture open on the stream? */
bool sc_capturing_is_on(struct sc_capturing *capturing, CUstream handle);

/* The graph that a capture of the stream adds to; 0 if the driver does not say. */
uintptr_t sc_capturing_graph(struct sc_capturing *capturing, CUstream handle);

#endif
