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

/* What only the caller knows of the run. Versions are as CUDA numbers them (13000); 0: unknown. */
struct sc_report_run {
    int driver_version;
    int runtime_version;
    unsigned device_count;
    const char *const *device_names;
    bool alone;     /* the library is not preloaded: CUPTI alone tells it of calls */
    bool unreached; /* CUDA was used, and no call came through the library */
};

/* What became of listening to CUPTI. `state` NULL: nobody asked for it. The strings live for
 * ever. */
struct sc_report_cupti {
    const char *state;   /* "listening", "absent", "too-old", "held", "yielded", "failed" */
    uint32_t version;    /* CUPTI's own number, 0 if unknown */
    const char *library; /* its path; NULL or "" without one */
    const char *detail;  /* who holds it, or what it answered; NULL or "" if unknown */
};

/* What became of the timeline (CUPTI's records of when copies ran). `state` NULL: nobody asked for
 * it. The string lives for ever. */
struct sc_report_timeline {
    const char *state; /* as above */
    uint64_t records;  /* activity records that CUPTI delivered */
    uint64_t dropped;  /* activity records that CUPTI dropped */
    uint64_t matched;  /* records for which there is a `timing` line */
};

/* What became of counting managed memory (um=1). `state` NULL: nobody asked for it. */
struct sc_report_um {
    const char *state;  /* as above */
    const char *detail; /* what CUPTI answered; NULL or "" if it said nothing */
    uint64_t dropped;   /* activity records that CUPTI dropped */
    const struct sc_managed_counts *counts;
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

/* How often ranges of pages were protected, by each mechanism, and the budget that limited that. */
struct sc_report_guard {
    uint64_t by_mprotect, by_userfaultfd;
    enum sc_userfaultfd_state userfaultfd;
    const struct sc_budget *budget; /* NULL: there is no guard_budget */
};

struct sc_report_totals {
    uint64_t operations;      /* asynchronous operations on host memory that were tracked */
    uint64_t held_peak_bytes; /* most bytes of deferred frees at one time */
    uint64_t held_peak_ns;    /* longest that one free was deferred */
    uint64_t taken_early;     /* copies whose source the driver was kept from taking too early */
    uint64_t driver_late;     /* sources that the driver was kept from reading too late */
    uint64_t shared_memory; /* how often memory was opened from another process, or handed to one */
    const struct sc_no_verdicts *no_verdicts; /* NULL: not known */
    struct sc_report_guard guard;
    struct {
        uint64_t calls;   /* copies, memsets, frees and captures that CUPTI told of */
        uint64_t wrapped; /* of these, carried by a wrapper; without CUPTI, `operations` */
        uint64_t missed;  /* calls - wrapped; known only with CUPTI, else 0 */
    } coverage;
    struct sc_report_cupti cupti;
    struct sc_report_timeline timeline;
    struct sc_report_um um;
    const struct sc_statement *memory;    /* NULL: not known */
    const struct sc_limit_events *limits; /* NULL: nothing to tell */
    int exit_status;                      /* what the process ends with, -1 if unknown */
    bool final; /* the process is ending; false: it may go on (before exec) */
};

struct sc_report_counts {
    uint64_t hazards; /* every occurrence, equal ones included, and no advisories */
    uint64_t observed;
    uint64_t latent;
    uint64_t advisories; /* sc_hazard_is_advisory */
    uint64_t suppressed; /* left out by a suppression, or ignored; in none of the other counts */
};

/* A frame as the report names it. `module` and `symbol` are NULL where unknown; without a module
 * `offset` is the address itself. Another thread may close the module at any moment, so `symbol`
 * and `base` may be read only by sc_file_read_string and its like. Of a Python frame only `python`
 * is set. */
struct sc_report_frame {
    bool is_python;
    struct sc_python_frame python;
    const char *module;
    uintptr_t base;     /* the start of the module's mapping */
    uintptr_t offset;   /* from `base` */
    const char *symbol; /* in the module */
};

/* Opens the report and writes its `run` line. `options` must live as long as the process, the
 * strings of `run` only during the call. Returns 0, or -errno after a line on stderr. It does
 * nothing and returns 0 with report_path=none, and in a second call. */
int sc_report_open(const struct sc_options *options, const struct sc_report_run *run);

/* Is the hazard left out, by a suppression or because the program ignores it? Such a hazard is
 * counted as suppressed here, and must not be reported. */
bool sc_report_suppresses(const struct sc_hazard *hazard);

/* Counts the hazard, and writes its line if the line is due. Equal hazards have the same code and
 * the same two stacks (without stacks, the same two API names). A line is due for the 1st, 2nd,
 * 4th, 8th, ... of equal hazards, for the first observed one among them, and when their label
 * changes. Before sc_report_open the hazard is counted, and no line is written. With
 * halt_on_error=1 stderr is told of the hazard. Returns whether a line was due, even if it could
 * not be written. */
bool sc_report_hazard(const struct sc_hazard *hazard);

/* Writes a `timing` line for a hazard that has a line, and keeps the time for the summary. */
void sc_report_timing(const struct sc_hazard *hazard, const struct sc_report_timing *timing);

/* Counts a call that passed every wrapper by, and writes a `coverage` line for the 1st, 2nd, 4th,
 * 8th, ... call of the same function and stack. Returns whether a line was written. */
bool sc_report_missed(const struct sc_report_miss *miss);

/* Writes a `cupti` line: CUPTI is wanted, and cannot be had, or can be had no longer. */
void sc_report_cupti(const struct sc_report_cupti *cupti);

/* Writes the path of the report into `path`; "" if there is no report. */
void sc_report_path(char *path, size_t size);

/* Writes the `postmortem` line, and keeps a brief of it for the summary. Once in a process. */
void sc_report_postmortem(const struct sc_postmortem *postmortem);

struct sc_oom;

/* Writes a `memory` line of what the ledger says. */
void sc_report_memory(const struct sc_statement *statement);

/* Writes the same into `bytes`, as an object with the member `memory` alone: `{"memory":{...}}`.
 * Returns its length; 0 if it does not fit. */
size_t sc_report_memory_text(const struct sc_statement *statement, char *bytes, size_t size);

/* Writes an `oom` line, with `statement` as what the ledger said then. With verbosity=2 stderr is
 * told as well. */
void sc_report_oom(const struct sc_oom *oom, const struct sc_statement *statement);

/* Writes `modules` lines of the modules that no line has listed yet, since lines just written may
 * name them. Takes the loader's lock, which a thread of the program's may hold while it waits for
 * us. So no thread of the library's may call it, nor anybody who holds a lock of the library's. */
void sc_report_modules(void);

/* Makes the process end with `exitcode` as after a hazard under strict=1, even without strict. */
void sc_report_fail(void);

/* The counts of hazards so far. */
void sc_report_counts(struct sc_report_counts *counts);

/* The exit status that the process should end with. `own` is the process's own: 0 to 255, or -1 if
 * unknown. Returns `exitcode` if strict counts a hazard or sc_report_fail was called, unless the
 * process is known to fail already. Else returns `own`. */
int sc_report_exit_status(int own);

/* Writes the `summary` line and, if `totals->final`, prints the summary as verbosity asks. After a
 * final summary this function does nothing; later hazards still get lines. */
void sc_report_summary(const struct sc_report_totals *totals);

/* The program aborts: prints the summary once, without a `summary` line, if there are hazards or
 * the context is lost. The program may catch the signal and go on. */
void sc_report_say_aborting(const struct sc_report_totals *totals);

/* In a forked child: forgets the parent's report, counts and file. The state is that of before the
 * first open. */
void sc_report_child(void);

/* Names the frame whose return address is `pc`, with dladdr. `pc` may also stand for a Python frame
 * (track/python_codes.h). */
void sc_report_symbolise(const void *pc, struct sc_report_frame *frame);

/* Notes which files stderr, and a descriptor that report_path names, had at the program's start. A
 * descriptor that was closed then will be a file of the program's, where nothing is written. Pre:
 * the program has opened no file yet. */
void sc_report_note_descriptors(void);

/* May the library write to stderr? Yes if it is what the program was started with, or if the
 * program has put a terminal, a pipe or a file opened for appending there. */
bool sc_report_has_stderr(void);

/* Writes "safecopy: <line>\n" to stderr with one write; fits sc_options_complain. */
void sc_report_say(void *context, const char *line);

#endif
