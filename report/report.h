/* The report: JSON Lines on disk while the program runs, a summary on stderr when the program ends.
 *
 * report/schema.json describes the file: one `run` line, `hazard` lines, a `summary` line. One
 * write(2) writes a line as soon as its facts are known, so a killed process leaves a readable
 * report. place.h says where the file may be. A report that cannot be written costs one line on
 * stderr and nothing else: hazards are still counted, and strict still fails the run.
 *
 * Locks: one mutex, a leaf. The mutex is held over formatting and write(2) only; a slow reader of a
 * FIFO may make seconds of that. Suppressions are matched under it as well. Symbols are looked up
 * before the mutex is taken, since dladdr takes the loader's lock. Asynchronous signals are blocked
 * while the mutex is held: a handler that frees cannot meet the mutex held by its own thread.
 *
 * No function allocates, is a cancellation point, or changes errno. None prints to stdout unless
 * report_path names stdout. None may be called from a signal handler that can interrupt the loader.
 */

/* Terms (docs/glossary.md):
 *   advisory: a hazard that may be meant, for which strict does not fail
 *   deferred: of a free: done later, when the hold on the memory has ended
 *   guard: page protection of the memory of operations in flight
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   label: what the program calls what it does: a test, a request, a step
 *   ledger: which memory the process has, and which call stack asked for it
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   suppressed: healed and counted, and not reported
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_REPORT_REPORT_H
#define SC_REPORT_REPORT_H

#include "report/userfaultfd.h"
#include "track/python_codes.h"

#include <stdbool.h>
#include <stdint.h>

struct sc_budget;
struct sc_hazard;
struct sc_limit_events;
struct sc_managed_counts;
struct sc_no_verdicts;
struct sc_options;
struct sc_postmortem;
struct sc_statement;

/* What only the caller knows of the run, for the report's first line. Versions are as CUDA numbers
 * them (13000); 0: not known. */
struct sc_report_run {
    int driver_version;
    int runtime_version;
    unsigned device_count;
    const char *const *device_names;
    bool alone;     /* the library is not preloaded, so it learns of calls from CUPTI alone */
    bool unreached; /* CUDA was used, and no call came through the library */
};

/* Whether the library gets callbacks from CUPTI. `state` NULL: no option asks for it. The strings
 * live for ever. */
struct sc_report_cupti {
    const char *state;   /* "listening", "absent", "too-old", "held", "yielded", "failed" */
    uint32_t version;    /* CUPTI's own number, 0 if unknown */
    const char *library; /* its path; NULL or "" without one */
    const char *detail;  /* who holds it, or what it answered; NULL or "" if unknown */
};

/* Whether the library gets the timeline (CUPTI's records of when copies ran). `state` NULL: no
 * option asks for it. The string lives for ever. */
struct sc_report_timeline {
    const char *state; /* as in struct sc_report_cupti */
    uint64_t records;  /* activity records that CUPTI delivered */
    uint64_t dropped;  /* activity records that CUPTI dropped */
    uint64_t matched;  /* records for which there is a `timing` line */
};

/* Whether managed memory is counted (um=1). `state` NULL: no option asks for it. */
struct sc_report_um {
    const char *state;  /* as in struct sc_report_cupti */
    const char *detail; /* what CUPTI answered; NULL or "" if it said nothing */
    uint64_t dropped;   /* activity records that CUPTI dropped */
    const struct sc_managed_counts *counts;
};

/* When a hazard's copy ran on the device; CLOCK_MONOTONIC. */
struct sc_report_timing {
    uint64_t start_ns, end_ns;
};

/* A driver call that came through none of the library's wrappers, as CUPTI has shown: the library
 * did not know of it in time. */
struct sc_report_miss {
    const char *api;         /* lives for ever */
    const char *runtime_api; /* NULL: the program called the driver itself */
    int32_t thread;
    uint64_t time_ns;
    uint32_t stack;
};

/* How often ranges of pages were protected by each mechanism, and the budget (the option
 * guard_budget) that limits how much time that takes. */
struct sc_report_guard {
    uint64_t by_mprotect, by_userfaultfd;
    enum sc_userfaultfd_state userfaultfd;
    const struct sc_budget *budget; /* NULL: there is no guard_budget */
};

/* What the summary says besides hazards: counts that other parts of the library have kept. */
struct sc_report_totals {
    uint64_t operations;      /* asynchronous operations on host memory that were tracked */
    uint64_t held_peak_bytes; /* most bytes of deferred frees at one time */
    uint64_t held_peak_ns;    /* longest that one free was deferred */
    /* copies for which the library prevented the driver from reading the source too early */
    uint64_t taken_early;
    /* sources for which the library prevented the driver from reading them too late */
    uint64_t driver_late;
    /* how often memory was opened from another process, or exported to one */
    uint64_t shared_memory;
    const struct sc_no_verdicts *no_verdicts; /* NULL: not known */
    struct sc_report_guard guard;
    struct {
        uint64_t calls;   /* copies, memsets, frees and captures that CUPTI has reported */
        uint64_t wrapped; /* of these, carried by a wrapper; without CUPTI, `operations` */
        uint64_t missed;  /* calls - wrapped; known only with CUPTI, else 0 */
    } coverage;
    struct sc_report_cupti cupti;
    struct sc_report_timeline timeline;
    struct sc_report_um um;
    const struct sc_statement *memory;    /* NULL: not known */
    const struct sc_limit_events *limits; /* NULL: nothing to tell */
    int exit_status;                      /* what the process ends with, -1 if unknown */
    bool final; /* the process is ending; false: it may go on, as before exec */
};

/* How many hazards there were, by how the report counts them. */
struct sc_report_counts {
    uint64_t hazards; /* every occurrence, equal ones included, and no advisories */
    uint64_t observed;
    uint64_t latent;
    uint64_t advisories; /* sc_hazard_is_advisory */
    uint64_t suppressed; /* left out by a suppression, or ignored; not in the other counts */
};

/* A frame as the report names it. `module` and `symbol` are NULL if not known; without a module
 * `offset` is the address itself. Another thread may close the module at any moment, so `symbol`
 * and `base` may be read only by sc_file_read_string and its like. A Python frame has only
 * `python`. */
struct sc_report_frame {
    bool is_python;
    struct sc_python_frame python;
    const char *module;
    uintptr_t base;     /* the start of the module's mapping */
    uintptr_t offset;   /* from `base` */
    const char *symbol; /* in the module */
};

/* Opens the report and writes its `run` line. `options` must live as long as the process, the
 * strings of `run` only during the call. Returns 0, or -errno after a line on stderr. With
 * report_path=none, and when called again, does nothing and returns 0. */
int sc_report_open(const struct sc_options *options, const struct sc_report_run *run);

/* Returns true if the hazard is not to be reported: a suppression of the user's covers it, or the
 * program ignores it. It is then counted as suppressed, and must not be passed to
 * sc_report_hazard. */
bool sc_report_suppresses(const struct sc_hazard *hazard);

/* Counts the hazard, and writes its line if the line is due. Equal hazards have the same code and
 * the same two stacks (without stacks, the same two API names). A line is due for the 1st, 2nd,
 * 4th, 8th, ... of equal hazards, for the first observed one among them, and when their label
 * changes. Before sc_report_open the hazard is counted, and no line is written. With
 * halt_on_error=1 stderr is told of the hazard. Returns whether a line was due, even if it could
 * not be written. */
bool sc_report_hazard(const struct sc_hazard *hazard);

/* Writes a `timing` line for a hazard that has a line: CUPTI tells later when its copy ran. Keeps
 * the time for the summary. */
void sc_report_timing(const struct sc_hazard *hazard, const struct sc_report_timing *timing);

/* Counts a driver call that came through no wrapper, and writes a `coverage` line for the 1st,
 * 2nd, 4th, 8th, ... call of the same function and stack. Returns whether a line was written. */
bool sc_report_missed(const struct sc_report_miss *miss);

/* Writes a `cupti` line: CUPTI is wanted, and is not available, or no longer. */
void sc_report_cupti(const struct sc_report_cupti *cupti);

/* Stores the path of the report; "" if there is none. */
void sc_report_path(char *path, size_t size);

/* Writes the `postmortem` line about a lost context, and keeps its most important parts for the
 * summary. Once in a process. */
void sc_report_postmortem(const struct sc_postmortem *postmortem);

struct sc_oom;

/* Writes a `memory` line: which memory the process has and which call stacks asked for it, by a
 * statement of the ledger. */
void sc_report_memory(const struct sc_statement *statement);

/* Writes what a `memory` line has into `bytes`, as a JSON object of one member:
 * `{"memory":{...}}`. Returns its length; 0 if it does not fit. */
size_t sc_report_memory_text(const struct sc_statement *statement, char *bytes, size_t size);

/* Writes an `oom` line about a failed allocation. `statement`: which memory the process had at
 * that time. With verbosity=2 stderr is told, too. */
void sc_report_oom(const struct sc_oom *oom, const struct sc_statement *statement);

/* Writes `modules` lines for the modules that no line has listed yet, since lines that were just
 * written may name them. Takes the loader's lock, which a thread of the program may hold while it
 * waits for the library. So it must not be called by a thread of the library's, or with a lock of
 * the library's held. */
void sc_report_modules(void);

/* Makes the process end with `exitcode` as after a hazard under strict=1, even without strict. For
 * bad options that may have meant strict=1. */
void sc_report_fail(void);

/* Stores the counts of hazards so far. */
void sc_report_counts(struct sc_report_counts *counts);

/* Returns the exit status with which the process should end: `exitcode` if strict counts a hazard
 * or sc_report_fail was called, unless the process is known to fail already; else `own`, which is
 * the process's own status (0 to 255, or -1 if not known). */
int sc_report_exit_status(int own);

/* Writes the `summary` line and, if the process ends (`totals->final`), prints the summary on
 * stderr as verbosity asks. After a final one this does nothing; later hazards still get lines. */
void sc_report_summary(const struct sc_report_totals *totals);

/* Prints the summary once, without a `summary` line, if there are hazards or the context is lost:
 * the program aborts. It may catch the signal and go on. */
void sc_report_say_aborting(const struct sc_report_totals *totals);

/* Forgets, in a forked child, the parent's report, counts and file: the child opens a report of
 * its own. */
void sc_report_child(void);

/* Looks up the names of the frame with the return address `pc`, by dladdr. `pc` may also stand for
 * a Python frame (track/python_codes.h). */
void sc_report_symbolise(const void *pc, struct sc_report_frame *frame);

/* Notes which files stderr, and a descriptor that report_path names, have at the program's start.
 * If a descriptor is closed then, it will later be a file of the program's, and nothing is written
 * to it. Pre: the program has opened no file yet. */
void sc_report_note_descriptors(void);

/* Returns true if the library may write to stderr: it is the file that the program was started
 * with, or the program has put a terminal, a pipe or a file opened for appending there. */
bool sc_report_has_stderr(void);

/* Writes "safecopy: <line>\n" to stderr with one write; can be used as a sc_options_complain. */
void sc_report_say(void *context, const char *line);

#endif
