/* The subscription to CUPTI: taken, held, given up.
 *
 * CUPTI has one subscriber in a process. The library subscribes only where somebody asked for
 * CUPTI, and leaves as soon as a profiler comes: no cuptiSubscribe of the program may fail because
 * of us. The library does not come back.
 *
 * Thread-safe. Locks: one, held over calls of CUPTI. Inside CUPTI's callbacks the lock is only
 * tried.
 */
#ifndef SC_CUPTI_HOOKS_SUBSCRIPTION_H
#define SC_CUPTI_HOOKS_SUBSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_hooks/libcupti.h"

enum sc_cupti_state {
    SC_CUPTI_UNUSED,    /* nobody asked for it */
    SC_CUPTI_LISTENING, /* until the end of the process, as far as is known */
    SC_CUPTI_ABSENT,    /* there is no libcupti */
    SC_CUPTI_TOO_OLD,
    SC_CUPTI_HELD,    /* by another tool, before us */
    SC_CUPTI_YIELDED, /* to another tool, which came later */
    SC_CUPTI_FAILED,  /* CUPTI does not work here */
};

struct sc_cupti_status {
    enum sc_cupti_state state;
    uint32_t version;    /* of CUPTI, as it numbers itself; 0 without one */
    const char *library; /* its path, "" without one */
    const char *detail;  /* who holds it, or what CUPTI answered; "" if there is nothing to say */
    const char *passed_over; /* relative folders in which it was not looked for; "" if none */
};

/* A driver call that CUPTI tells of and that no wrapper carried. */
struct sc_missed_call {
    uint32_t id;      /* a CUPTI_DRIVER_TRACE_CBID_* */
    const char *name; /* of the function; lives for ever */
    const void *parameters;
    uint32_t correlation_id;
    int result;   /* a CUresult, once it has returned */
    bool audited; /* it is counted as missed; else it is only followed */
};

struct sc_news;
struct sc_timeline_request;

struct sc_cupti_request {
    struct sc_libcupti_search search;
    void *(*symbol)(void *handle, const char *name); /* the real dlsym */
    /* Called on the thread that makes the call, before (`entering`) and after it. */
    void (*missed)(const struct sc_missed_call *call, bool entering);
    void (*told)(const struct sc_news *news); /* news.h */
    /* Callback ids to be followed as well, once something was missed. */
    const uint16_t *followed;
    size_t followed_count;
    const struct sc_timeline_request *records; /* timeline.h; NULL: no records are wanted */
};

/* Once, when CUDA has come up. `request` must live as long as the process. */
void sc_cupti_start(const struct sc_cupti_request *request);

/* Notes that CUPTI cannot be used. `why` lives for ever. */
void sc_cupti_fail(const char *why);

/* From now on the callbacks of `followed` are heard as well. May be called in a callback. Does
 * nothing while another thread holds the lock. */
void sc_cupti_widen(void);

/* Another tool comes, and can subscribe when this returns, unless another thread holds the lock for
 * more than a second. Until sc_cupti_tool_came the library does not subscribe: the tool's
 * subscription may be what brings CUDA up. Returns whether this call ended our subscription. */
bool sc_cupti_yield(void);
void sc_cupti_tool_came(void);

/* A tool registers for activity records: the tool gets the records, and the library keeps the
 * subscription. Returns whether this call gave the records up. */
bool sc_cupti_yield_records(void);

/* Is a call of CUPTI under way on this thread that the library makes? */
bool sc_cupti_is_asking(void);

/* Does CUPTI work for the library alone? What it starts is there because of us then. Two loads. */
bool sc_cupti_is_ours(void);

/* The process ends: nothing is heard any more. `unsubscribe`: CUPTI is told so, too. */
void sc_cupti_stop(bool unsubscribe);

/* In a forked child, where CUDA does not work: nothing is heard. CUPTI is not called, since its
 * locks may be held for ever; the subscription is given up when a tool comes. */
void sc_cupti_child(void);

/* Never waits, so that a process can end out of a signal handler. */
void sc_cupti_get_status(struct sc_cupti_status *status);
const char *sc_cupti_state_string(enum sc_cupti_state state);

/* Audited calls that wrappers carried, and those that passed by. */
void sc_cupti_counts(uint64_t *wrapped, uint64_t *missed);

#endif
