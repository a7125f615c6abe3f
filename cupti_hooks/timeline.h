/* The timeline: when copies and memsets really ran on the device, by CUPTI's activity records.
 *
 * CUPTI delivers records only in a flush, which may wait as long as a driver call of the program
 * (docs/driver.md, CUPTI). So sc_timeline_flush is for a thread of the library for which no other
 * thread waits. Memory is bounded: CUPTI gets a fixed number of buffers; a record without a buffer
 * is dropped and counted; the records of the latest 65,536 driver calls are kept.
 *
 * One client of CUPTI gets the records of the whole process, and a later client takes over the
 * buffers, too. So the library gives up its records before a tool registers, and does not start if
 * a tool was first.
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
    uint64_t records; /* complete records that were delivered */
    /* Dropped for want of a buffer, or incomplete when the library gave up the records. */
    uint64_t dropped;
};

/* What a record of managed memory reports. The values are those of
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
    /* Called when half of the buffers are in use by CUPTI, on a thread of the program inside a
     * driver call. It may wake a thread and no more. */
    void (*starves)(void);
    /* Called for each record of managed memory, on a thread of CUPTI, with a lock of this module
     * held. It may take leaf locks only. NULL: records of managed memory are not wanted. */
    void (*managed)(const struct sc_managed_news *news);
};

/* Starts the records that the request wants. `symbol`: the real dlsym. Pre: the driver is
 * initialised, and there is no context, since CUPTI would wait for its work here. `request` lives
 * for ever. */
void sc_timeline_start(void *library, void *(*symbol)(void *handle, const char *name),
                       const struct sc_timeline_request *request);

/* Return the state of the records of copies, and of those of managed memory; SC_CUPTI_UNUSED until
 * they were tried. Never wait. */
enum sc_cupti_state sc_timeline_state(void);
enum sc_cupti_state sc_timeline_managed_state(void);

/* Returns CUPTI's error if it delivers no records of managed memory; "": they were not requested,
 * or are delivered. */
const char *sc_timeline_managed_detail(void);

/* Sets the state of the records that were requested to failed: the thread that would read them
 * could not be created. */
void sc_timeline_fail(void);

/* Flushes: makes CUPTI deliver each buffer whose records are all complete. `all`: every buffer;
 * incomplete records in them are lost. */
void sc_timeline_flush(bool all);

/* Are records enabled, so that one may still come and is worth waiting for? */
bool sc_timeline_is_on(void);

/* Are half of the buffers in use by CUPTI? Then it should be made to return some by a flush, or it
 * drops records. */
bool sc_timeline_lacks_buffers(void);

/* Stores the times of a driver call. False: its records have not been delivered, or were not kept.
 * The records of one driver call are delivered together, once the whole call is complete. */
bool sc_timeline_find(uint32_t correlation_id, struct sc_device_times *times);

/* Gives up the records, for a tool that registers for them. When this returns, CUPTI has no buffer
 * or callback of the library. Returns whether this call ended the timeline. */
bool sc_timeline_yield(void);

/* Gives CUPTI no more buffers, at the end of the process. CUPTI is not called. Records that were
 * delivered are still found. */
void sc_timeline_stop(void);

/* Disables the timeline in a forked child, where a flush would wait for ever. */
void sc_timeline_child(void);

/* Stores how many records were delivered so far, and how many were lost. */
void sc_timeline_get_counts(struct sc_timeline_counts *counts);

#endif
