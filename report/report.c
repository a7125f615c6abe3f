#define _GNU_SOURCE 1
#include "report/report.h"

#include "common/checks.h"
#include "common/own_pages.h"
#include "common/text.h"
#include "common/trace.h"
#include "report/annotations.h"
#include "report/file.h"
#include "report/guard_part.h"
#include "report/hazard_counts.h"
#include "report/json_lines.h"
#include "report/limits_part.h"
#include "report/memory_part.h"
#include "report/missed_calls.h"
#include "report/modules.h"
#include "report/oom_line.h"
#include "report/path.h"
#include "report/place.h"
#include "report/plain.h"
#include "report/postmortem_line.h"
#include "report/roll.h"
#include "report/summary.h"
#include "report/suppressing.h"
#include "report/suppressions.h"
#include "report/users_frames.h"
#include "track/no_verdicts.h"
#include "track/origins.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/poison.h"

/* The mutex guards all members, except those that sc_report_open sets before `opened`. */
static struct {
    pthread_mutex_t mutex;
    _Atomic bool opened; /* the file, the options and the names are set for good */
    const struct sc_options *options;
    struct sc_path_names names;
    char path[SC_OPTIONS_PATH_SIZE];
    int fd; /* -1 without a file */
    struct sc_file_identity identity;
    bool summarised; /* the last summary line was written */
    bool failed;     /* sc_report_fail was called */
    unsigned noted;  /* bit i: the roll has note i of enum sc_roll_note */
    struct sc_report_counts counts;
    uint64_t by_code[SC_HAZARD_CODE_COUNT];
    uint64_t by_reason[SC_REASONS_MAX]; /* ignored hazards (annotations.h); 0: suppressed */
    struct sc_postmortem_brief postmortem;
} report = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* How long a reader of the report may take no bytes (report_path may name a FIFO). */
enum { PATIENCE_MS = 10 * 1000 };
/* The same of stderr, and the size of a line that fits a small stack. */
enum { TELL_PATIENCE_MS = 2000, BRIEF_BYTES = 1024 };

static char parent_path[SC_OPTIONS_PATH_SIZE]; /* of the report of the process that forked us */

static _Atomic bool opening; /* taken by the thread that opens the report */
static _Atomic bool listing; /* taken by the thread that lists modules */

/* A line holds two stacks of 64 frames, or the modules of a large Python program. */
static char line_bytes[256 * 1024]; /* guarded by report.mutex; by `opening` until it is open */

/* What unlock_report restores. */
struct saved {
    int error;
    sigset_t signals;
};

/* Takes the report's lock with asynchronous signals blocked. Returns errno and the signal mask for
 * unlock_report. */
static struct saved lock_report(void) SC_ENTERS(report.mutex) SC_UNFOLLOWED
{
    struct saved saved = {.error = errno};
    sc_file_block_signals(&saved.signals);
    pthread_mutex_lock(&report.mutex);
    return saved;
}

static void unlock_report(const struct saved *saved) SC_UNFOLLOWED
{
    pthread_mutex_unlock(&report.mutex);
    sc_file_restore_signals(&saved->signals);
    errno = saved->error;
}

/* Holds the report's lock until the end of the block. */
#define REPORT_LOCKED()                                                                            \
    __attribute__((cleanup(unlock_report), unused)) const struct saved saved_ = lock_report()

static bool is_mute; /* there was no stderr, or its reader has stopped reading */
static struct sc_file_identity first_stderr; /* its inode is 0 where nobody has noted it */

void sc_report_note_descriptors(void)
{
    first_stderr = sc_file_identify(STDERR_FILENO);
    is_mute = first_stderr.inode == 0;
    sc_place_note_descriptor(getenv("SAFECOPY_OPTIONS"));
}

/* A program may have closed its stderr; then the file that it opened next has that number. */
bool sc_report_has_stderr(void)
{
    return !is_mute && (first_stderr.inode == 0 || sc_file_is_same(STDERR_FILENO, &first_stderr) ||
                        sc_file_takes_words(STDERR_FILENO));
}

/* Writes to stderr. After TELL_PATIENCE_MS nothing more is said: a reader that waits for the
 * program to end before it reads would never read on. */
static void write_to_stderr(const struct sc_text *text)
{
    if (sc_report_has_stderr() &&
        sc_file_write_within(STDERR_FILENO, text->bytes, text->used, TELL_PATIENCE_MS) == -EAGAIN)
        is_mute = true;
}

/* Writes the line to stderr with our prefix. `bytes`: memory to compose it in. */
static void say_in(char *bytes, size_t size_bytes, const char *line)
{
    struct sc_text text = sc_text_in(bytes, size_bytes - 1);
    sc_text_put(&text, "safecopy: ");
    sc_plain_put(&text, line, strlen(line));
    bytes[text.used++] = '\n';
    write_to_stderr(&text);
}

static __attribute__((noinline)) void say_briefly(const char *line)
{
    char bytes[BRIEF_BYTES];
    say_in(bytes, sizeof bytes, line);
}

static __attribute__((noinline)) void say_at_length(const char *line)
{
    char bytes[SC_OPTIONS_PATH_SIZE + 512];
    say_in(bytes, sizeof bytes, line);
}

/* Writes the line to stderr. A short line is written from a small buffer, since the stack may have
 * little room. A byte is written as SC_PLAIN_GROWTH = 6 at most. */
void sc_report_say(void *context, const char *line)
{
    (void)context;
    (strlen(line) < BRIEF_BYTES / 6 - 2 ? say_briefly : say_at_length)(line);
}

static void say_failure(const char *path, int error)
{
    SC_TEXT(text, SC_OPTIONS_PATH_SIZE + 256);
    sc_place_put_failure(&text, path, error);
    sc_report_say(NULL, text.bytes);
}

/* Adds the note to the roll once, if it is due. Returns whether a command that shows the reports on
 * stderr has it. */
static bool note_locked(enum sc_roll_note note, bool is_due, const char *path)
    SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (!is_due || (report.noted & 1U << note) != 0)
        return false;
    report.noted |= 1U << note;
    return sc_roll_note(note, &report.names, path);
}

/* Writes no more lines, since the file cannot be written. Hazards are still counted. */
static void give_up_locked(int error) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    SC_TRACE("report-given-up error", error);
    say_failure(report.path, error);
    note_locked(SC_ROLL_LOST, true, NULL);
    sc_file_close(report.fd);
    report.fd = -1;
}

/* Is the descriptor still the report's? The program may have closed it and opened a file of its own
 * under its number. That file must never be written, and is not ours to close. Then the report is
 * opened again. */
static bool still_ours_locked(void) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (sc_file_is_same(report.fd, &report.identity))
        return true;
    report.fd = sc_place_open_again(report.path, &report.identity);
    if (report.fd >= 0 && sc_file_is_same(report.fd, &report.identity))
        return true;
    give_up_locked(report.fd < 0 ? -report.fd : ENOENT);
    return false;
}

/* Writes one line to the file of the report. After a failure the report is given up. */
static bool write_line_locked(const struct sc_text *line) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (report.fd < 0 || !still_ours_locked())
        return false;
    int result = sc_file_write_within(report.fd, line->bytes, line->used, PATIENCE_MS);
    if (result != 0)
        give_up_locked(-result);
    return result == 0;
}

/* Records in the roll what makes the run fail: the command learns it, even if it never sees the
 * report. */
static void note_verdict_locked(void) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (!atomic_load_explicit(&report.opened, memory_order_relaxed))
        return;
    note_locked(SC_ROLL_LATENT, report.counts.latent > 0, NULL);
    note_locked(SC_ROLL_OBSERVED, report.counts.observed > 0, NULL);
    note_locked(SC_ROLL_FAILED, report.failed, NULL);
}

/* Makes the report's file, and tells the user if it is beside another file. Returns a descriptor or
 * -errno. */
static int create_file(const struct sc_options *options)
{
    const char *kept = NULL;
    int fd = sc_path_expand(options->report_path, &report.names, report.path, sizeof report.path);
    if (fd == 0)
        fd = sc_place_open(report.path, parent_path, &report.names, &kept);
    if (fd < 0) {
        say_failure(report.path, -fd);
        return fd;
    }
    if (kept && options->verbosity > 0) {
        SC_TEXT(text, SC_OPTIONS_PATH_SIZE + 256);
        sc_place_put_kept(&text, report.path, kept);
        sc_report_say(NULL, text.bytes);
    }
    report.identity = sc_file_identify(fd);
    return fd;
}

int sc_report_open(const struct sc_options *options, const struct sc_report_run *run)
{
    if (atomic_exchange_explicit(&opening, true, memory_order_acq_rel))
        return 0;
    int error = errno;
    int fd = -1;
    bool wanted = strcmp(options->report_path, "none") != 0;
    sc_path_find_names(&report.names);
    sc_modules_name_program(report.names.executable);
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    if (wanted)
        sc_json_lines_run(&line, options, run, &report.names);
    /* The file is made last, so that another process that finds it soon finds the line that says
     * whose it is. */
    if (wanted)
        fd = create_file(options);
    errno = error;

    REPORT_LOCKED();
    report.options = options;
    report.fd = fd;
    if (fd < 0)
        report.path[0] = '\0';
    else if (!write_line_locked(&line))
        sc_place_withdraw(report.path, &report.identity);
    atomic_store_explicit(&report.opened, true, memory_order_release);
    note_locked(SC_ROLL_REPORT, fd >= 0, report.path);
    note_locked(SC_ROLL_LOST, wanted && fd < 0, NULL);
    note_locked(SC_ROLL_WATCHED, !wanted, NULL);
    note_verdict_locked();
    return wanted && fd < 0 ? fd : 0;
}

/* Lists modules that were loaded since the last time. One thread at a time does so; any other
 * leaves its own to that thread. */
void sc_report_modules(void)
{
    enum { LINES_MAX = 64 };
    static char bytes[32 * 1024]; /* guarded by `listing` */
    if (!atomic_load_explicit(&report.opened, memory_order_acquire))
        return;
    for (unsigned i = 0; i < LINES_MAX && sc_modules_have_come() &&
                         !atomic_exchange_explicit(&listing, true, memory_order_acquire);
         i++) {
        struct sc_text line = sc_text_in(bytes, sizeof bytes);
        if (sc_json_lines_modules(&line, &report.names)) {
            REPORT_LOCKED();
            write_line_locked(&line);
        }
        atomic_store_explicit(&listing, false, memory_order_release);
    }
}

/* Named stacks, which take 23 KB and would not fit the stack of every thread of the program. They
 * are named without the lock: naming takes the loader's lock, and a thread that holds the loader's
 * lock may wait for ours. */
static struct naming {
    struct sc_json_lines_stacks stacks;
    _Atomic bool taken;
} namings[4];

static bool is_kept(const struct naming *naming)
{
    return naming >= namings && naming < namings + sizeof namings / sizeof namings[0];
}

/* Takes a free one of `namings`, or maps a new one if threads that wait for the loader have all of
 * them. */
static struct naming *begin_naming(void)
{
    struct naming *fresh = NULL;
    while (!fresh) {
        for (unsigned i = 0; i < sizeof namings / sizeof namings[0]; i++)
            if (!atomic_exchange_explicit(&namings[i].taken, true, memory_order_acquire))
                return &namings[i];
        fresh = sc_pages_map(sizeof *fresh);
    }
    return fresh;
}

/* Gives back the room for names: to the few that are kept, or to Linux. */
static void end_naming(struct naming *const *naming)
{
    if (is_kept(*naming))
        atomic_store_explicit(&(*naming)->taken, false, memory_order_release);
    else
        sc_pages_unmap(*naming, sizeof **naming);
}

/* Has one of these until the end of the block. */
#define NAMED(name) __attribute__((cleanup(end_naming))) struct naming *const name = begin_naming()

/* Names the frames of all stacks that a hazard's line has. Takes the loader's lock, so no lock of
 * ours may be held. */
static void name_stacks(const struct sc_hazard *hazard, struct sc_json_lines_stacks *stacks)
{
    sc_json_lines_name_stack(hazard->copy.stack, &stacks->copy);
    sc_json_lines_name_stack(hazard->event.stack, &stacks->event);
    sc_json_lines_name_stack(sc_origins_get(hazard->buffer_origin).stack, &stacks->buffer);
    for (unsigned i = 0; i < 2 && sc_hazard_is_race(hazard); i++)
        sc_json_lines_name_stack(hazard->nodes[i].author.stack, &stacks->nodes[i]);
    if (sc_hazard_is_race(hazard))
        return;
    sc_json_lines_name_stack(hazard->freed.stack, &stacks->freed);
    sc_json_lines_name_stack(sc_origins_get(hazard->copy.stream_origin).stack, &stacks->stream);
}

/* Counts that the entry has suppressed a hazard. Returns false if `entry` is NULL: no entry covers
 * the hazard. */
static bool use_locked(struct sc_suppression *entry) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (entry)
        entry->used++;
    return entry;
}

/* Does a suppression leave out the hazard? Stacks are named only if no answer for these stacks is
 * remembered. */
static bool is_left_out(const struct sc_hazard *hazard)
{
    struct sc_suppression *entry = NULL;
    if (!sc_suppressing_is_on())
        return false;
    {
        REPORT_LOCKED();
        if (sc_suppressing_recall(hazard, &entry))
            return use_locked(entry);
    }
    NAMED(naming);
    name_stacks(hazard, &naming->stacks);
    REPORT_LOCKED();
    return use_locked(sc_suppressing_find(hazard, &naming->stacks));
}

/* Counts the hazard if it is not to be reported: by the program's wish, or by a suppression. */
bool sc_report_suppresses(const struct sc_hazard *hazard)
{
    if (!hazard->ignored && !is_left_out(hazard))
        return false;
    REPORT_LOCKED();
    report.counts.suppressed++;
    report.by_reason[hazard->ignored]++;
    return true;
}

/* Counts the hazard. Returns the count of its equals if a line is due, else 0. The hazard's
 * certainty becomes the strongest of its equals. `writes`: whether there is a file. */
static uint64_t count_hazard(struct sc_hazard *hazard, bool *writes)
{
    bool telling;
    bool is_advisory = sc_hazard_is_advisory(hazard);
    REPORT_LOCKED();
    *writes = report.fd >= 0;
    report.counts.hazards += !is_advisory;
    report.by_code[hazard->code]++;
    if (is_advisory)
        report.counts.advisories++;
    else if (hazard->certainty == SC_OBSERVED)
        report.counts.observed++;
    else
        report.counts.latent++;
    note_verdict_locked();
    const struct sc_hazard_counts *seen = sc_hazard_counts_note(hazard, &telling);
    if (!seen || !telling)
        return 0;
    hazard->certainty = seen->first.certainty;
    return seen->count;
}

static bool ends_process(const struct sc_hazard *hazard)
{
    return !sc_hazard_is_advisory(hazard) &&
           atomic_load_explicit(&report.opened, memory_order_acquire) &&
           report.options->halt_on_error;
}

/* Writes the hazard's line. `count`: how many equal ones there have been. */
static void write_hazard_locked(const struct sc_hazard *hazard, uint64_t count,
                                const struct sc_json_lines_stacks *stacks) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    SC_TRACE("hazard-line code count", hazard->code, count);
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_hazard(&line, hazard, count, stacks, &report.names);
    write_line_locked(&line);
}

/* Tells stderr at which hazard the program halts. One thread tells. */
static void tell_hazard(const struct sc_hazard *hazard)
{
    static char bytes[8 * 1024];
    static _Atomic bool is_telling;
    if (report.options->verbosity == 0 || atomic_exchange(&is_telling, true))
        return;
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_text_put(&text, "safecopy: halt_on_error=1:\n");
    sc_summary_write_hazard(&text, &(struct sc_hazard_counts){.first = *hazard, .count = 1});
    write_to_stderr(&text);
}

/* Stacks are named between two times of holding the lock, since naming takes the loader's lock. */
bool sc_report_hazard(const struct sc_hazard *hazard)
{
    struct sc_hazard strongest = *hazard;
    bool writes;
    uint64_t count = count_hazard(&strongest, &writes);
    if (ends_process(hazard))
        tell_hazard(hazard);
    /* The first of its equals is named even without a report: the summary needs its place. */
    if (count != 1 && (count == 0 || !writes))
        return count != 0;

    NAMED(naming);
    name_stacks(hazard, &naming->stacks);
    uint64_t place = count == 1 ? sc_users_frames_hash(hazard, &naming->stacks) : 0;
    REPORT_LOCKED();
    if (place != 0)
        sc_hazard_counts_note_place(hazard, place);
    if (writes)
        write_hazard_locked(&strongest, count, &naming->stacks);
    return true;
}

void sc_report_timing(const struct sc_hazard *hazard, const struct sc_report_timing *timing)
{
    REPORT_LOCKED();
    sc_hazard_counts_note_time(hazard, (int64_t)(timing->end_ns - hazard->event.time_ns));
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_timing(&line, hazard, timing);
    write_line_locked(&line);
}

/* Counts a call that passed the library by, and writes a line about it whenever the count is a
 * power of two. The stack is named without the lock, since naming takes the loader's. */
bool sc_report_missed(const struct sc_report_miss *miss)
{
    uint64_t count;
    {
        REPORT_LOCKED();
        count = sc_missed_calls_note(miss);
        if (report.fd < 0 || count == 0 || (count & (count - 1)) != 0)
            return false;
    }
    struct sc_json_lines_stack stack;
    sc_json_lines_name_stack(miss->stack, &stack);
    REPORT_LOCKED();
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_miss(&line, miss, count, &stack);
    return write_line_locked(&line);
}

void sc_report_cupti(const struct sc_report_cupti *cupti)
{
    REPORT_LOCKED();
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_cupti(&line, cupti);
    write_line_locked(&line);
}

/* Writes the line about a lost context. It is long and names many stacks, so it is made before the
 * lock is taken. */
void sc_report_postmortem(const struct sc_postmortem *postmortem)
{
    static char bytes[1024 * 1024]; /* one caller, once in a process */
    uint64_t hazards, by_code[SC_HAZARD_CODE_COUNT];
    {
        REPORT_LOCKED();
        hazards = report.counts.hazards;
        memcpy(by_code, report.by_code, sizeof by_code);
        report.postmortem = sc_postmortem_line_in_brief(postmortem);
        if (report.fd < 0)
            return;
    }
    struct sc_text line = sc_text_in(bytes, sizeof bytes);
    sc_postmortem_line_write(&line, postmortem, hazards, by_code);
    REPORT_LOCKED();
    write_line_locked(&line);
}

void sc_report_fail(void)
{
    REPORT_LOCKED();
    report.failed = true;
    note_verdict_locked();
}

void sc_report_counts(struct sc_report_counts *counts)
{
    REPORT_LOCKED();
    *counts = report.counts;
}

void sc_report_path(char *path, size_t size)
{
    struct sc_text text = sc_text_in(path, size);
    REPORT_LOCKED();
    sc_text_put(&text, report.fd >= 0 ? report.path : "");
}

static bool strict_counts(const struct sc_options *options, const struct sc_report_counts *counts)
{
    return (options->certainty == SC_OBSERVED ? counts->observed : counts->hazards) > 0;
}

/* Returns the status to end with. A process that fails by itself keeps its own status. */
int sc_report_exit_status(int own)
{
    struct sc_report_counts counts;
    if (!atomic_load_explicit(&report.opened, memory_order_acquire))
        return own;
    sc_report_counts(&counts);
    bool fails =
        report.failed || (report.options->strict && strict_counts(report.options, &counts));
    return own <= 0 && fails ? report.options->exitcode : own;
}

/* Has the summary more to say than that all went well? Else it is printed only with verbosity=2.
 * With strict the user also learns what was not judged, and which suppressions are of no use. */
static bool is_worth_printing(const struct sc_summary *summary)
{
    const struct sc_report_totals *totals = summary->totals;
    bool strict = summary->options->strict;
    bool has_doubts =
        strict && (totals->shared_memory > 0 || sc_no_verdicts_given_up(totals->no_verdicts) > 0 ||
                   sc_no_verdicts_suspected(totals->no_verdicts) > 0);
    bool has_unused = summary->counts.suppressed > 0 && sc_summary_has_unused();
    bool tells_idle = strict && (has_unused || sc_summary_has_expired());
    bool has_news = summary->counts.hazards > 0 || summary->counts.advisories > 0 ||
                    totals->coverage.missed > 0 || summary->postmortem.name || has_doubts ||
                    tells_idle;
    return summary->options->verbosity >= (has_news ? 1 : 2);
}

/* Copies what the summary on stderr tells, so that it can be printed without the lock. Returns
 * whether it is to be printed, and notes it. */
static bool is_to_be_printed_locked(struct sc_summary *summary,
                                    const struct sc_report_totals *totals) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    summary->options = report.options;
    summary->totals = totals;
    summary->counts = report.counts;
    summary->place_count =
        sc_hazard_counts_top(summary->places, SC_SUMMARY_PLACES, &summary->distinct);
    summary->path = report.fd >= 0 ? report.path : "";
    summary->strict_counts = strict_counts(report.options, &report.counts);
    summary->postmortem = report.postmortem;
    bool is_printed = is_worth_printing(summary);
    note_locked(SC_ROLL_TOLD, is_printed && report.options->strict, NULL);
    return is_printed;
}

/* Parts of lines, whose stacks are named before the lock is taken. */
struct parts {
    struct sc_guard_part_sites sites;
    struct sc_memory_part memory;
    struct sc_limits_part limits;
};

static void unmap_parts(struct parts *const *parts)
{
    sc_pages_unmap(*parts, sizeof **parts);
}

/* Names the stacks of those parts that there are. NULL: no memory. */
static struct parts *name_parts(const struct sc_statement *statement,
                                const struct sc_budget *budget,
                                const struct sc_limit_events *limits)
{
    struct parts *parts = statement || budget || limits ? sc_pages_map(sizeof *parts) : NULL;
    if (parts && statement)
        sc_memory_part_name(statement, &parts->memory);
    if (parts && budget)
        sc_guard_part_name_sites(budget, &parts->sites);
    if (parts && limits)
        sc_limits_part_name(limits, &parts->limits);
    return parts;
}

/* Has parts until the end of the block. */
#define PARTS(name, statement, budget, limits)                                                     \
    __attribute__((cleanup(unmap_parts))) struct parts *const name =                               \
        name_parts(statement, budget, limits)

/* Returns the part about memory, or NULL if there is none. */
static const struct sc_memory_part *memory_of(const struct parts *parts)
{
    return parts && parts->memory.statement ? &parts->memory : NULL;
}

/* Prints the summary on stderr, once in a process. `memory` NULL: without the lines on memory. */
static void print_summary(const struct sc_summary *summary, const struct sc_memory_part *memory)
{
    static char bytes[16 * 1024];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_summary_write(&text, summary);
    if (memory && report.options->verbosity >= 2)
        sc_memory_part_say(&text, memory);
    write_to_stderr(&text);
}

static bool write_summary_locked(const struct sc_report_totals *totals, const struct parts *parts)
    SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_summary(&line, report.options, totals, &report.counts, report.by_code,
                          report.by_reason, parts && totals->guard.budget ? &parts->sites : NULL,
                          memory_of(parts), parts && totals->limits ? &parts->limits : NULL);
    return write_line_locked(&line);
}

/* Writes the summary's line, once; before an exec it may be written without being the last. */
void sc_report_summary(const struct sc_report_totals *totals)
{
    struct sc_summary summary;
    if (!atomic_load_explicit(&report.opened, memory_order_acquire))
        return;
    PARTS(parts, totals->memory, totals->guard.budget, totals->limits);
    {
        REPORT_LOCKED();
        if (report.summarised)
            return;
        report.summarised = totals->final;
        bool is_written = write_summary_locked(totals, parts);
        /* A command that shows the reports itself tells what the summary would. */
        bool is_shown = note_locked(SC_ROLL_ENDED, totals->final && is_written, NULL) &&
                        report.fd >= 0 && report.options->verbosity < 2;
        if (!totals->final || is_shown || !is_to_be_printed_locked(&summary, totals))
            return;
    }
    print_summary(&summary, memory_of(parts));
}

/* Writes a `memory` line. Names are found before the lock is taken. */
void sc_report_memory(const struct sc_statement *statement)
{
    if (!atomic_load_explicit(&report.opened, memory_order_acquire))
        return;
    PARTS(parts, statement, NULL, NULL);
    if (!parts)
        return;
    REPORT_LOCKED();
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_memory(&line, memory_of(parts));
    write_line_locked(&line);
}

/* Writes the ledger's statement as JSON, for safecopy_memory(). Returns its length. Returns 0 if it
 * did not fit. */
size_t sc_report_memory_text(const struct sc_statement *statement, char *bytes, size_t size)
{
    PARTS(parts, statement, NULL, NULL);
    struct sc_text text = sc_text_in(bytes, size);
    sc_json_lines_held(&text, memory_of(parts));
    if (text.cut || !parts)
        sc_text_rewind(&text, 0);
    return text.used;
}

/* Says on stderr that there is no memory. In one write, so that no other thread's line comes
 * between its words. */
static void say_oom(const struct sc_oom *oom, const struct sc_memory_part *memory)
{
    SC_TEXT(text, 1024);
    sc_oom_line_say(&text, oom, memory);
    sc_report_say(NULL, text.bytes);
}

/* Writes an `oom` line. Names are found before the lock is taken. */
void sc_report_oom(const struct sc_oom *oom, const struct sc_statement *statement)
{
    if (!atomic_load_explicit(&report.opened, memory_order_acquire))
        return;
    PARTS(parts, statement, NULL, NULL);
    {
        NAMED(naming);
        sc_json_lines_name_stack(oom->stack, &naming->stacks.copy);
        REPORT_LOCKED();
        struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
        sc_oom_line_write(&line, oom, &naming->stacks.copy, memory_of(parts));
        write_line_locked(&line);
    }
    if (report.options->verbosity >= 2)
        say_oom(oom, memory_of(parts));
}

/* Says what was found as the program aborts, once, and only if there is anything to say. */
void sc_report_say_aborting(const struct sc_report_totals *totals)
{
    static bool said;
    struct sc_summary summary;
    if (!atomic_load_explicit(&report.opened, memory_order_acquire))
        return;
    {
        REPORT_LOCKED();
        if (said || report.summarised ||
            (report.counts.hazards == 0 && report.postmortem.error == 0))
            return;
        said = true;
        if (!is_to_be_printed_locked(&summary, totals))
            return;
    }
    print_summary(&summary, NULL);
}

/* Makes everything begin anew in a forked child, since the report and its counts are the parent's.
 */
void sc_report_child(void)
{
    if (report.fd >= 0 && sc_file_is_same(report.fd, &report.identity))
        sc_file_close(report.fd);
    if (report.counts.hazards + report.counts.advisories > 0)
        sc_hazard_counts_forget();
    sc_missed_calls_forget();
    report.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    report.fd = -1;
    if (report.path[0] != '\0')
        memcpy(parent_path, report.path, sizeof parent_path);
    report.path[0] = '\0';
    report.summarised = false;
    report.failed = false;
    report.noted = 0;
    report.counts = (struct sc_report_counts){0};
    report.postmortem = (struct sc_postmortem_brief){0};
    memset(report.by_code, 0, sizeof report.by_code);
    memset(report.by_reason, 0, sizeof report.by_reason);
    sc_suppressing_forget();
    sc_modules_forget();
    atomic_store_explicit(&listing, false, memory_order_release);
    atomic_store_explicit(&report.opened, false, memory_order_release);
    atomic_store_explicit(&opening, false, memory_order_release);
}
