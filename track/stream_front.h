/* What each call on a stream looks at first: in front of the tracker's record of the stream, and a
 * word for all streams. Whatever a call finds here to be rare it looks at more closely. Lock-free,
 * and safe in a signal handler; changes need the tracker's lock (track/order.h).
 */
#ifndef SC_TRACK_STREAM_FRONT_H
#define SC_TRACK_STREAM_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What makes a call that is else nothing but work of its stream look closer. */
enum sc_attends {
    SC_ATTENDS_SIGNALS = 1,         /* there were some */
    SC_ATTENDS_MANAGED_SOURCES = 2, /* operations read managed memory */
    SC_ATTENDS_UNSEEN_WAITS = 4,    /* for the host, which are open */
};

/* What the stream's next call would come after besides the stream's own work. */
enum sc_ties {
    /* What is on the legacy stream, or on all blocking ones: it is a blocking one, or the legacy
     * stream of a context that has or had one. Also of a legacy stream that has waited. */
    SC_TIE_KIND = 1,
    SC_TIE_DUE = 2,     /* what its context waits for */
    SC_TIE_JOINED = 4,  /* what it has waited for */
    SC_TIE_SIGNALS = 8, /* none, but there are signals: a record of an event is more than that */
};

/* In front of all that is known of a stream: what each of its calls looks at. */
struct sc_stream_front {
    _Atomic uint64_t issued; /* the number of its last operation */
    _Atomic uint32_t ties;   /* enum sc_ties */
};

static inline uint64_t sc_stream_front_issued(const struct sc_stream_front *front)
{
    return atomic_load_explicit(&front->issued, memory_order_acquire);
}

static inline bool sc_stream_front_has_ties(const struct sc_stream_front *front, unsigned ties)
{
    return atomic_load_explicit(&front->ties, memory_order_relaxed) & ties;
}

#endif
