/* The timeline: when copies and memsets really ran on the device, by CUPTI's activity records.
 *
 * Records come back only in a flush, which may wait as long as a driver call of the program
 * (docs/driver.md, CUPTI). So sc_timeline_flush is for a thread of the library's that nobody waits
 * for. Memory is bounded. CUPTI gets a fixed number of buffers; a record without a buffer is
 * dropped and counted. The records of the latest 65,536 driver calls are kept.
 *
 * One client of CUPTI gets the records of the whole process, and a later client takes over the
 * buffers too. So the library leaves before a tool registers, and does not start if a tool was
 * first.
 *
 * Records of managed memory (um=1) come in the same buffers: page faults of devices, and pages that
 * move.
 *
 * Thread-safe, not signal-safe. Locks: one held over calls of CUPTI. The callbacks take the lock of
 * the table of records, a leaf. */
#ifndef SC_CUPTI_HOOKS_TIMELINE_H
#define SC_CUPTI_HOOKS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum sc_cupti_state;

/* When a driver call ran on the device, in nanoseconds of CLOCK_MONOTONIC. For a launch: from the
 * start of the first copy to the end of the last one. */
struct sc_device_times {
    uint64_t start_ns, end_ns;
};

struct sc_timeline_counts {
    uint64_t records; /* complete records that came back */
    uint64_t dropped; /* dropped for want of a buffer, or incomplete when the library left */
};

/* What a record of managed memory tells. The values are those of
 * CUpti_ActivityUnifiedMemoryCounterKind. */
enum sc_managed_news_kind {
    SC_MANAGED_TO_DEVICE = 1,  /* bytes moved from the host to device `to` */
    SC_MANAGED_TO_HOST = 2,    /* bytes moved from device `from` to the host */
    SC_MANAGED_HOST_FAULT = 3, /* the host has touched a page that is elsewhere */
    SC_MANAGED_FAULT = 4,      /* device `from` has touched a page that is elsewhere */
    SC_MANAGED_THRASHING = 5,  /* bytes that move to and fro */
    SC_MANAGED_THROTTLING = 6, /* a processor is kept waiting because of thrashing */
    SC_MANAGED_REMOTE_MAP = 7, /* bytes that are read in place from now on, because of that */
    SC_MANAGED_BETWEEN = 8,    /* bytes moved from device `from` to device `to` */
};

struct sc_managed_news {
    enum sc_managed_news_kind kind;
    uint64_t address, value;
    uint32_t from, to;
    bool is_eviction; /* the pages go to the host since other pages need their room */
};

struct sc_timeline_request {
    bool copies; /* records of copies and memsets are wanted */
    /* Called when half of the buffers are given out, on a thread of the program inside of a driver
     * call. It may wake a thread and no more. */
    void (*starves)(void);
    /* Called for each record of managed memory, on a thread of CUPTI's, with a lock of this module
     * held. It takes no lock but leaves. NULL: such records are not wanted. */
    void (*managed)(const struct sc_managed_news *news);
};

/* Starts the records that the request wants. `symbol`: the real dlsym. Pre: the driver is up, and
 * there is no context, as this call would wait for its work. `request` lives for ever. */
void sc_timeline_start(void *library, void *(*symbol)(void *handle, const char *name),
                       const struct sc_timeline_request *request);

/* The states of the records of copies, and of those of managed memory; SC_CUPTI_UNUSED until they
 * were tried. Never waits. */
enum sc_cupti_state sc_timeline_state(void);
enum sc_cupti_state sc_timeline_managed_state(void);

/* CUPTI's answer if it gives no records of managed memory; "": it was not asked, or gives them. */
const char *sc_timeline_managed_detail(void);

/* Notes that the records which were started are of no use. */
void sc_timeline_fail(void);

/* Makes CUPTI give back each buffer whose records are all complete. `all`: gives back every buffer;
 * incomplete records in them are lost. */
void sc_timeline_flush(bool all);

/* May a record still come? */
bool sc_timeline_is_on(void);

/* Are half of the buffers given out? */
bool sc_timeline_lacks_buffers(void);

/* Stores the times of a driver call. False: its records have not come back, or were not kept. The
 * records of one driver call come back together, once the whole call is complete. */
bool sc_timeline_find(uint32_t correlation_id, struct sc_device_times *times);

/* Another tool registers for records. When this returns, CUPTI has no buffer or callback of the
 * library's. Returns whether this call ended the timeline. */
bool sc_timeline_yield(void);

/* The process ends: no buffer is given out any more. CUPTI is not called. Records that came back
 * are still found. */
void sc_timeline_stop(void);

/* In a forked child, where a flush would wait for ever: ends the timeline. */
void sc_timeline_child(void);

void sc_timeline_get_counts(struct sc_timeline_counts *counts);

#endif
