/* The timeline: when copies and memsets really ran on the device, from CUPTI's activity records.
 *
 * Records come back only in a flush, which may wait as long as a driver call of the program
 * (docs/driver.md, CUPTI). So sc_timeline_flush is for a thread of ours that nobody waits for.
 * Memory is bounded. CUPTI gets a fixed number of buffers; a record without a buffer is dropped and
 * counted. The records of the latest 65,536 driver calls are kept.
 *
 * One client of CUPTI has the records of the whole process, and a later client takes over buffers
 * too. So the library leaves before a tool registers, and does not come where a tool was first.
 *
 * Records of managed memory (um=1) come in the same buffers: page faults of devices, and pages that
 * move.
 *
 * Thread-safe, not signal-safe. Locks: one held over calls of CUPTI; the callbacks take that of the
 * table, a leaf.
 */
#ifndef SC_CUPTI_HOOKS_TIMELINE_H
#define SC_CUPTI_HOOKS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum sc_cupti_state;

/* CLOCK_MONOTONIC. For a launch: from the start of the first copy to the end of the last. */
struct sc_device_times {
    uint64_t start_ns, end_ns;
};

struct sc_timeline_counts {
    uint64_t records; /* complete ones that came back */
    uint64_t dropped; /* for want of a buffer, or incomplete when we left */
};

/* The values are those of CUpti_ActivityUnifiedMemoryCounterKind. */
enum sc_managed_news_kind {
    SC_MANAGED_TO_DEVICE = 1,  /* bytes of the host's, to device `to` */
    SC_MANAGED_TO_HOST = 2,    /* bytes of device `from` */
    SC_MANAGED_HOST_FAULT = 3, /* the host touches a page that is not there */
    SC_MANAGED_FAULT = 4,      /* device `from` does */
    SC_MANAGED_THRASHING = 5,  /* bytes that go to and fro */
    SC_MANAGED_THROTTLING = 6, /* a processor is kept waiting for that */
    SC_MANAGED_REMOTE_MAP = 7, /* bytes that are read where they lie from now on, for that */
    SC_MANAGED_BETWEEN = 8,    /* bytes of device `from`, to device `to` */
};

struct sc_managed_news {
    enum sc_managed_news_kind kind;
    uint64_t address, value;
    uint32_t from, to;
    bool is_eviction; /* pages go to the host since others want their room */
};

struct sc_timeline_request {
    bool copies; /* of copies and memsets */
    /* Half of the buffers are given out; called on a thread of the program inside of a driver call:
     * may wake a thread and no more. */
    void (*starves)(void);
    /* Managed memory; called on a thread of CUPTI's, with a lock of this module's held: takes no
     * lock but leaves. NULL: nobody wants to know. */
    void (*managed)(const struct sc_managed_news *news);
};

/* Pre: the driver is up, and there is no context, or this call would wait for its work. `request`
 * lives for ever. */
void sc_timeline_start(void *library, void *(*symbol)(void *handle, const char *name),
                       const struct sc_timeline_request *request);

/* SC_CUPTI_UNUSED until it was tried: of copies, and of managed memory. Never waits. */
enum sc_cupti_state sc_timeline_state(void);
enum sc_cupti_state sc_timeline_managed_state(void);

/* What CUPTI answered where it counts nothing of managed memory; "" if it was not asked. */
const char *sc_timeline_managed_detail(void);

/* Notes that what was started is of no use. */
void sc_timeline_fail(void);

/* Makes CUPTI give back each buffer whose records are all complete. `all`: gives back every buffer;
 * the incomplete records in it are lost. */
void sc_timeline_flush(bool all);

/* Can a record still come? */
bool sc_timeline_is_on(void);

/* Are half of the buffers given out? */
bool sc_timeline_starves(void);

/* The times of a driver call. False: its records have not come back, or were not kept. The records
 * of one driver call come back together, once the whole call is complete. */
bool sc_timeline_find(uint32_t correlation_id, struct sc_device_times *times);

/* Another tool registers for records: when this returns, CUPTI has no buffer or callback of ours.
 * Returns whether this call ended the timeline. */
bool sc_timeline_yield(void);

/* The process ends: no buffer is given out any more. CUPTI is not called. Records that came are
 * still found. */
void sc_timeline_stop(void);

/* In a forked child, where a flush would wait for ever. */
void sc_timeline_child(void);

void sc_timeline_get_counts(struct sc_timeline_counts *counts);

#endif
