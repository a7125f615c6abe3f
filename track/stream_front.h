/* The front of the tracker's record of a stream, and a word for all streams: what each call looks
 * at first. A call that finds something rare there looks more closely. Lock-free, and safe in a
 * signal handler; changes need the tracker's lock (track/order.h). */
#ifndef SC_TRACK_STREAM_FRONT_H
#define SC_TRACK_STREAM_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Rare states of the process, in which even a call that is nothing but work of its stream has to
 * look more closely. */
enum sc_attends {
    SC_ATTENDS_SIGNALS = 1,         /* there were signals */
    SC_ATTENDS_MANAGED_SOURCES = 2, /* operations in flight read managed memory */
    SC_ATTENDS_UNSEEN_WAITS = 4,    /* unseen waits for the host are open */
};

/* Ties: what the stream's next call may come after besides the stream's own work. */
enum sc_ties {
    /* The next call may come after work on the legacy stream, or on all blocking streams: the
     * stream is a blocking one, or the legacy stream of a context that has or had a blocking
     * one. */
    SC_TIE_KIND = 1,
    SC_TIE_DUE = 2,    /* what its context was told to wait for */
    SC_TIE_JOINED = 4, /* what the stream itself has waited for */
    /* No such work, but there are signals: then a record of an event also takes a number. */
    SC_TIE_SIGNALS = 8,
};

/* The front of the tracker's record of a stream. */
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
