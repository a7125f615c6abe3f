/* The report: JSON Lines on disk while the program runs, a summary on stderr when it ends.
 *
 * The file is described by report/schema.json: one `run` line, `hazard` lines, a `summary` line,
 * each written with one write(2) at the moment it is known, so that a killed process leaves a
 * readable report. Where it may be is in place.h. A report that cannot be written costs one line on
 * stderr and nothing else: hazards are still counted, and strict still fails the run.
 *
 * Locks: one mutex, a leaf. It is held over formatting and write(2) only, which a slow reader of a
 * FIFO may make seconds of; symbols are looked up (dladdr, which takes the loader's lock) before it
 * is taken. Asynchronous signals are blocked meanwhile, so that a handler which frees cannot meet
 * the mutex held by its own thread. No function here allocates, is a cancellation point, changes
 * errno, or prints to stdout, unless report_path names it. None may be called from a signal handler
 * that can interrupt the loader.
 */
#ifndef SC_REPORT_REPORT_H
#define SC_REPORT_REPORT_H

#include "report/options.h"
#include "track/hazard.h"
#include "track/unguarded.h"

#include <stdbool.h>
#include <stdint.h>

/* What only the caller knows of the run; versions as CUDA numbers them (13000), 0 for unknown. */
struct sc_report_run {
    int driver_version;
    int runtime_version;
    unsigned device_count;
    const char *const *device_names;
    bool alone;     /* not preloaded: all is known from CUPTI */
    bool unreached; /* CUDA was used, and no call of it came to us */
};

/* How it went with CUPTI. `state` NULL: nobody asked for it; the strings live for ever. */
struct sc_report_cupti {
    const char *state;   /* "listening", "absent", "too-old", "held", "yielded", "failed" */
    uint32_t version;    /* CUPTI's own number, 0 if unknown */
    const char *library; /* its path; NULL or "" without one */
    const char *detail;  /* who holds it, or what it answered; NULL or "" if unknown */
};

/* How it went with the timeline. `state` NULL: nobody asked for it; the string lives for ever. */
struct sc_report_timeline {
    const char *state; /* as above */
    uint64_t records;  /* activity records that came back */
    uint64_t dropped;  /* and that did not */
    uint64_t matched;  /* timing lines */
};

/* When a hazard's copy ran on the device; CLOCK_MONOTONIC. */
struct sc_report_timing {
    uint64_t start_ns, end_ns;
};

/* A driver call that passed every wrapper by. */
struct sc_report_miss {
    const char *api;         /* lives for ever */
    const char *runtime_api; /* NULL: the program called the driver itself */
    int32_t thread;
    uint64_t time_ns;
    uint32_t stack;
};

struct sc_report_totals {
    uint64_t operations;      /* asynchronous operations on host memory that were tracked */
    uint64_t held_peak_bytes; /* most bytes of deferred frees at one time */
    uint64_t held_peak_ns;    /* longest that one free was deferred */
    uint64_t taken_early;     /* copies whose source the driver was kept from taking too early */
    const struct sc_unguarded *unguarded; /* what was not watched */
    struct {
        uint64_t calls;   /* copies, memsets, frees and captures that CUPTI told of */
        uint64_t wrapped; /* of these, carried by a wrapper; without CUPTI, `operations` */
        uint64_t missed;  /* the difference; known only with CUPTI, else 0 */
    } coverage;
    struct sc_report_cupti cupti;
    struct sc_report_timeline timeline;
    int exit_status; /* what the process ends with, -1 if unknown */
    bool final;      /* true: the process is ending. false: it may go on (before exec) */
};

struct sc_report_counts {
    uint64_t hazards; /* every occurrence, equal ones included */
    uint64_t observed;
    uint64_t latent;
};

/* A frame as the report names it. `module` and `symbol` are NULL where unknown; without a module,
 * `offset` is the address itself. What the module holds may be gone at any moment, since another
 * thread may close it: `symbol` and `base` are for sc_file_read_string and its like alone. */
struct sc_report_frame {
    const char *module;
    uintptr_t base;     /* the start of the module's mapping */
    uintptr_t offset;   /* from there */
    const char *symbol; /* there */
};

/* Opens the report and writes its `run` line. `options` must live as long as the process; the
 * strings of `run` are needed during the call only. Returns 0, also with report_path=none, or
 * -errno after saying so on stderr. A second call does nothing and returns 0. */
int sc_report_open(const struct sc_options *options, const struct sc_report_run *run);

/* Counts the hazard, and writes a line if it is the 1st, 2nd, 4th, 8th, ... of those equal to it
 * (same code and same two stacks, or same two API names where there are no stacks), or the first of
 * them that was observed. May be called before sc_report_open: it then counts, and writes nothing.
 * Returns whether one was due, also where none can be written: the summary has it, too. */
bool sc_report_hazard(const struct sc_hazard *hazard);

/* Writes a `timing` line for a hazard that was written, and remembers it for the summary. */
void sc_report_timing(const struct sc_hazard *hazard, const struct sc_report_timing *timing);

/* Writes a `coverage` line if this is the 1st, 2nd, 4th, 8th, ... call of its kind (same function,
 * same stack) that passed by. Returns whether a line was written. */
bool sc_report_missed(const struct sc_report_miss *miss);

/* Writes a `cupti` line: it is wanted, and cannot be had, or not any more. */
void sc_report_cupti(const struct sc_report_cupti *cupti);

/* The run fails as with a hazard that strict counts, whatever strict says. */
void sc_report_fail(void);

void sc_report_counts(struct sc_report_counts *counts);

/* The status that a process should end with, given its own, as it is seen from outside (0 to 255,
 * -1 if unknown): `exitcode` if strict counts a hazard, or sc_report_fail was called, and the
 * process is not known to fail already; else `own`. */
int sc_report_exit_status(int own);

/* Writes the `summary` line and, if final, prints the summary that verbosity asks for. After the
 * final one nothing is summarised any more; later hazards are still appended to the file. */
void sc_report_summary(const struct sc_report_totals *totals);

/* In a forked child: forgets the parent's report, counts and file, as before the first open. */
void sc_report_child(void);

/* Names the frame whose return address is pc, with dladdr. */
void sc_report_symbolise(const void *pc, struct sc_report_frame *frame);

/* Before the program opens its first file: was it started with a stderr, and with what report_path
 * may name by number? If not, the file that takes the number is none of ours to write to, and
 * nothing is said there. */
void sc_report_note_descriptors(void);
bool sc_report_has_stderr(void);

/* Writes "safecopy: <line>\n" to stderr with one write; fits sc_options_complain. */
void sc_report_say(void *context, const char *line);

#endif
