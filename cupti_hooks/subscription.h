/* The library's subscription to CUPTI.
 *
 * CUPTI has one subscriber in a process. The library subscribes only if the option `cupti` or
 * another one needs CUPTI, and ends its subscription as soon as a profiler comes: no cuptiSubscribe
 * of the program may fail because of the library. The library does not subscribe again.
 *
 * Thread-safe. Locks: one, held over calls of CUPTI. CUPTI's callbacks only try to take it. */

/* Terms (docs/glossary.md):
 *   audit: the comparison of the driver calls that CUPTI shows with those that wrappers carried
 *   miss: a driver call that came through no wrapper
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_CUPTI_HOOKS_SUBSCRIPTION_H
#define SC_CUPTI_HOOKS_SUBSCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_hooks/libcupti.h"

enum sc_cupti_state {
    SC_CUPTI_UNUSED,    /* no option needs it */
    SC_CUPTI_LISTENING, /* the library is subscribed */
    SC_CUPTI_ABSENT,    /* there is no libcupti */
    SC_CUPTI_TOO_OLD,
    SC_CUPTI_HELD, /* another tool was subscribed already */
    /* The library has ended its subscription for another tool, which came later. */
    SC_CUPTI_YIELDED,
    SC_CUPTI_FAILED, /* CUPTI does not work here */
};

struct sc_cupti_status {
    enum sc_cupti_state state;
    uint32_t version;    /* CUPTI's own version number; 0: no CUPTI */
    const char *library; /* its path; "": no CUPTI */
    /* The name of the tool that is subscribed, or CUPTI's error; "": neither. */
    const char *detail;
    const char *passed_over; /* relative folders in which CUPTI was not looked for; "": none */
};

/* A driver call that CUPTI has reported and that no wrapper has made. */
struct sc_missed_call {
    uint32_t id;      /* a CUPTI_DRIVER_TRACE_CBID_* */
    const char *name; /* the function's name; lives for ever */
    const void *parameters;
    uint32_t correlation_id;
    int result;   /* a CUresult, once the call has returned */
    bool audited; /* the call counts as missed; else it is only followed */
};

struct sc_news;
struct sc_timeline_request;

struct sc_cupti_request {
    struct sc_libcupti_search search;
    void *(*symbol)(void *handle, const char *name); /* the real dlsym */
    /* Called for each missed or followed call, on the thread that makes it, before (`entering`) and
     * after the call. */
    void (*missed)(const struct sc_missed_call *call, bool entering);
    void (*told)(const struct sc_news *news); /* news.h */
    /* Ids of driver functions whose calls are followed (passed to `missed` without being counted)
     * once a call was missed (sc_cupti_follow_more). */
    const uint16_t *followed;
    size_t followed_count;
    const struct sc_timeline_request *records; /* timeline.h; NULL: no records are wanted */
};

/* Subscribes. Called once, when CUDA has been initialised. `request` must live as long as the
 * process. */
void sc_cupti_start(const struct sc_cupti_request *request);

/* Records that CUPTI cannot be used. `why` lives for ever. */
void sc_cupti_fail(const char *why);

/* Called when a call has missed all wrappers: from now on the receiver of missed calls is also told
 * of the calls in the request's list `followed`. May be called in a callback. Does nothing while
 * another thread holds the lock. */
void sc_cupti_follow_more(void);

/* Ends the library's subscription, for a tool that is about to subscribe. When this returns the
 * tool can subscribe, unless another thread has held the lock for more than a second. The library
 * does not subscribe until sc_cupti_tool_came, which is called when the tool's call has returned:
 * that call may be the one that initialises CUDA. Returns whether this call ended the subscription.
 */
bool sc_cupti_yield(void);
void sc_cupti_tool_came(void);

/* Gives up the activity records, for a tool that registers for them; the library keeps its
 * subscription. Returns whether this call gave them up. */
bool sc_cupti_yield_records(void);

/* Is the library itself calling CUPTI on this thread? Then a call of CUPTI's functions is no
 * tool's. */
bool sc_cupti_is_asking(void);

/* Is the library CUPTI's only user? Then threads and memory that CUPTI creates exist because of the
 * library. Two loads. */
bool sc_cupti_is_ours(void);

/* Makes callbacks do nothing any more, at the end of the process. `unsubscribe`: also unsubscribes
 * from CUPTI. */
void sc_cupti_stop(bool unsubscribe);

/* Makes callbacks do nothing, in a forked child, where CUDA does not work. CUPTI is not called,
 * since its locks may be held for ever. The subscription ends when a tool subscribes. */
void sc_cupti_child(void);

/* Stores the present status. Never waits, so that a process can end inside a signal handler. */
void sc_cupti_get_status(struct sc_cupti_status *status);
const char *sc_cupti_state_string(enum sc_cupti_state state);

/* Stores how many of the counted driver calls wrappers have made, and how many came past them. */
void sc_cupti_counts(uint64_t *wrapped, uint64_t *missed);

#endif
