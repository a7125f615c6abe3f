/* Records what the library did, only in debug builds (make DEBUG=1): a ring buffer of the latest
 * events for each thread. All rings are printed at the end of the process and by safecopy_dump()
 * with verbosity=3. A failed assertion prints its thread's ring. gdb prints rings with
 * scripts/gdb-safecopy.py, without calling a function in the process.
 *
 *   SC_TRACE("issue op stream bytes", op, stream, bytes);
 *
 * The text lives for ever. Its first word names the event, and the others name its values: at most
 * four, numbers or pointers. Other builds have no code of it. Safe anywhere: thread-safe, no lock,
 * errno is kept, also in a signal handler. */
#ifndef SC_TOOLS_TRACE_H
#define SC_TOOLS_TRACE_H

#include <stdatomic.h>
#include <stdint.h>

enum { SC_TRACE_WORDS = 4, SC_TRACE_EVENTS = 256 /* a power of two */ };

/* An event that a thread has recorded: what happened, when, and up to four values. */
struct sc_trace_event {
    /* Counts the events of all threads, so that they can be ordered; 0: none, or it is being
     * written. */
    uint64_t number;
    uint64_t ticks; /* sc_ticks() */
    const char *what;
    uint64_t words[SC_TRACE_WORDS];
};

/* A thread's ring of its latest events, which is never freed. A new thread may take over the ring
 * of one that has ended. */
struct sc_trace_ring {
    struct sc_trace_ring *next; /* the list of all rings, the youngest first */
    _Atomic int32_t thread;
    _Atomic uint32_t count; /* how many events were ever written */
    struct sc_trace_event events[SC_TRACE_EVENTS];
};

#ifdef SC_DEBUG

enum { SC_TRACE_ON = 1 };

extern _Atomic(struct sc_trace_ring *) sc_trace_rings;

void sc_trace_add(const char *what, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void sc_trace_print(void);     /* of all threads, to stderr */
void sc_trace_print_own(void); /* of the calling one */

#define SC_TRACE(...) SC_TRACE_(__VA_ARGS__, 0, 0, 0, 0, 0)
#define SC_TRACE_(what, a, b, c, d, ...)                                                           \
    sc_trace_add("" what, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d))

#else

enum { SC_TRACE_ON = 0 };

/* Builds without debugging have no trace to print. */
static inline void sc_trace_print(void)
{
}

#define SC_TRACE(...) ((void)0)

#endif

#endif
