#define _GNU_SOURCE 1
#include "report/report.h"

#include "common/checks.h"
#include "common/mutex.h"
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

/* What lock_report has found and unlock_report restores. */
struct saved {
    int error;
    sigset_t signals;
};

/* Takes the report's lock. Asynchronous signals are blocked first: a handler of the program's that
 * frees memory may report a hazard, and would wait for its own thread. Returns errno and the
 * signal mask for unlock_report. */
static struct saved lock_report(void) SC_ENTERS(report.mutex) SC_UNFOLLOWED
{
    struct saved saved = {.error = errno};
    sc_file_block_signals(&saved.signals);
    sc_mutex_lock(&report.mutex);
    return saved;
}

/* Releases the report's lock, and restores the signal mask and the program's errno. */
static void unlock_report(const struct saved *saved) SC_UNFOLLOWED
{
    sc_mutex_unlock(&report.mutex);
    sc_file_restore_signals(&saved->signals);
    errno = saved->error;
}

/* Holds the report's lock until the end of the block. */
#define REPORT_LOCKED()                                                                            \
    __attribute__((cleanup(unlock_report), unused)) const struct saved saved_ = lock_report()

static bool is_mute; /* there was no stderr, or its reader has stopped reading */
static struct sc_file_identity first_stderr; /* its inode is 0 where nobody has noted it */

/* Notes which file stderr has before the program opens any: if it is closed now, the number will
 * belong to a file of the program's, and nothing is written there. */
void sc_report_note_descriptors(void)
{
    first_stderr = sc_file_identify(STDERR_FILENO);
    is_mute = first_stderr.inode == 0;
    sc_place_note_descriptor(getenv("SAFECOPY_OPTIONS"));
}

/* May the library write to stderr? It is the file of the program's start, or something that is
 * meant for messages. A program may have closed it, and the file that it opened next has its
 * number. */
bool sc_report_has_stderr(void)
{
    return !is_mute && (first_stderr.inode == 0 || sc_file_is_same(STDERR_FILENO, &first_stderr) ||
                        sc_file_takes_words(STDERR_FILENO));
}

/* Writes to stderr. If its reader takes nothing for TELL_PATIENCE_MS, nothing more is ever said
 * there: it may wait for the program to end before it reads, and the program would wait for it. */
static void write_to_stderr(const struct sc_text *text)
{
    if (sc_report_has_stderr() &&
        sc_file_write_within(STDERR_FILENO, text->bytes, text->used, TELL_PATIENCE_MS) == -EAGAIN)
        is_mute = true;
}

/* Writes the line to stderr with our prefix, in one write. `bytes`: memory to compose it in. */
static void say_in(char *bytes, size_t size_bytes, const char *line)
{
    struct sc_text text = sc_text_in(bytes, size_bytes - 1);
    sc_text_put(&text, "safecopy: ");
    sc_plain_put(&text, line, strlen(line));
    bytes[text.used++] = '\n';
    write_to_stderr(&text);
}

/* Writes a short line to stderr. A function of its own, not inlined, so that the caller's stack
 * has no room for a long line. */
static __attribute__((noinline)) void say_briefly(const char *line)
{
    char bytes[BRIEF_BYTES];
    say_in(bytes, sizeof bytes, line);
}

/* Writes a line that may have a path in it to stderr. Not inlined, so that only its callers need
 * the stack for it. */
static __attribute__((noinline)) void say_at_length(const char *line)
{
    char bytes[SC_OPTIONS_PATH_SIZE + 512];
    say_in(bytes, sizeof bytes, line);
}

/* Writes a line for people to stderr. A short one is composed in a small buffer, since the
 * thread's stack may have little room. Escaping makes 6 bytes of one at most (SC_PLAIN_GROWTH). */
void sc_report_say(void *context, const char *line)
{
    (void)context;
    (strlen(line) < BRIEF_BYTES / 6 - 2 ? say_briefly : say_at_length)(line);
}

/* Says on stderr that there is no report at that path, and why. */
static void say_failure(const char *path, int error)
{
    SC_TEXT(text, SC_OPTIONS_PATH_SIZE + 256);
    sc_place_put_failure(&text, path, error);
    sc_report_say(NULL, text.bytes);
}

/* Adds the note to the roll, if it is due and was not added before. (The roll: a file in which
 * each process tells `safecopy run` about itself.) Returns whether a command has it that shows the
 * reports on stderr, so that this process need not. */
static bool add_to_roll_locked(enum sc_roll_note note, bool is_due, const char *path)
    SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (!is_due || (report.noted & 1U << note) != 0)
        return false;
    report.noted |= 1U << note;
    return sc_roll_note(note, &report.names, path);
}

/* Ends the writing of the report after a failure: stderr and `safecopy run` are told, and no more
 * lines are written. Hazards are still counted, so strict=1 still fails the run. */
static void give_up_locked(int error) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    SC_TRACE("report-given-up error", error);
    say_failure(report.path, error);
    add_to_roll_locked(SC_ROLL_LOST, true, NULL);
    sc_file_close(report.fd);
    report.fd = -1;
}

/* Makes sure that the descriptor still has the report open. The program may have closed it
 * (closing all descriptors, as daemons do) and opened a file of its own under its number. That
 * file must never be written, and is not ours to close: the report is then opened again. Returns
 * false if that fails, and the report is given up. */
static bool regain_file_locked(void) SC_REQUIRES(report.mutex)
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

/* Writes one line to the report's file, in one write. Returns whether it was written; after a
 * failure the report is given up. */
static bool write_line_locked(const struct sc_text *line) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (report.fd < 0 || !regain_file_locked())
        return false;
    int result = sc_file_write_within(report.fd, line->bytes, line->used, PATIENCE_MS);
    if (result != 0)
        give_up_locked(-result);
    return result == 0;
}

/* Tells `safecopy run`, by its roll of notes, that hazards were found or that the run fails
 * otherwise, each once. The command then knows even if it never sees the report. Before the report
 * is opened this process has no name to note; sc_report_open calls this again. */
static void add_verdict_to_roll_locked(void) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (!atomic_load_explicit(&report.opened, memory_order_relaxed))
        return;
    add_to_roll_locked(SC_ROLL_LATENT, report.counts.latent > 0, NULL);
    add_to_roll_locked(SC_ROLL_OBSERVED, report.counts.observed > 0, NULL);
    add_to_roll_locked(SC_ROLL_FAILED, report.failed, NULL);
}

/* Makes the report's file where the option says, and tells the user if it lies beside a file that
 * has to stay. parent_path: a forked child's report must not take its parent's place. Returns a
 * descriptor or -errno. */
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

/* Opens the report at the first use of CUDA and writes its run line. Called by any thread; all but
 * the first get 0 at once. report_path=none makes no file, and hazards are still counted. */
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
    /* The file is made when its first line is ready: another process that finds it must soon find
     * the line that says whose it is. */
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
    add_to_roll_locked(SC_ROLL_REPORT, fd >= 0, report.path);
    add_to_roll_locked(SC_ROLL_LOST, wanted && fd < 0, NULL);
    add_to_roll_locked(SC_ROLL_WATCHED, !wanted, NULL);
    add_verdict_to_roll_locked();
    return wanted && fd < 0 ? fd : 0;
}

/* Writes lines with the modules that were loaded since the last time, since frames in the report
 * refer to modules. One thread at a time does so; any other leaves its own to that thread.
 * LINES_MAX: a program that loads without end must not keep a thread here. */
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

/* Is it one of the few static ones, and not mapped for one use? */
static bool is_kept(const struct naming *naming)
{
    return naming >= namings && naming < namings + sizeof namings / sizeof namings[0];
}

/* Returns room for the named stacks of one hazard: a free one of `namings`, or a mapped one if
 * threads that wait for the loader's lock have all of them. Without memory it tries again until
 * one is free. */
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

/* Gives back the room for named stacks: to the static ones, or to Linux. The cleanup of NAMED, so
 * it gets the variable's address. */
static void end_naming(struct naming *const *naming)
{
    if (is_kept(*naming))
        atomic_store_explicit(&(*naming)->taken, false, memory_order_release);
    else
        sc_pages_unmap(*naming, sizeof **naming);
}

/* Has one of these until the end of the block. */
#define NAMED(name) __attribute__((cleanup(end_naming))) struct naming *const name = begin_naming()

/* Names the frames of all stacks that a hazard's line shows. Takes the loader's lock, so no lock
 * of ours may be held: whoever has the loader's may wait for ours. A race of two nodes has their
 * stacks in place of the free's and the stream's. */
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

/* Counts that the user's suppression has left a hazard out. NULL: none covers the hazard. Returns
 * whether one does. */
static bool count_use_locked(struct sc_suppression *entry) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    if (entry)
        entry->used++;
    return entry;
}

/* Returns whether one of the user's suppressions leaves the hazard out, and counts its use. For
 * stacks that were asked about before the answer is remembered; else their frames are named,
 * without the lock, and compared. */
static bool count_if_suppressed(const struct sc_hazard *hazard)
{
    struct sc_suppression *entry = NULL;
    if (!sc_suppressing_is_on())
        return false;
    {
        REPORT_LOCKED();
        if (sc_suppressing_recall(hazard, &entry))
            return count_use_locked(entry);
    }
    NAMED(naming);
    name_stacks(hazard, &naming->stacks);
    REPORT_LOCKED();
    return count_use_locked(sc_suppressing_find(hazard, &naming->stacks));
}

/* Returns whether the hazard is not to be reported, by a suppression or by the program's own wish
 * (`ignored`), and counts it as suppressed then. Called before the hazard is counted. */
bool sc_report_suppresses(const struct sc_hazard *hazard)
{
    if (!hazard->ignored && !count_if_suppressed(hazard))
        return false;
    REPORT_LOCKED();
    report.counts.suppressed++;
    report.by_reason[hazard->ignored]++;
    return true;
}

/* Counts the hazard. Returns how many equal ones there are if a line of the report is due, else 0.
 * `hazard` gets the strongest certainty that any of them had, for the line. *writes: whether there
 * is a file to write to. */
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
    add_verdict_to_roll_locked();
    const struct sc_hazard_counts *seen = sc_hazard_counts_note(hazard, &telling);
    if (!seen || !telling)
        return 0;
    hazard->certainty = seen->first.certainty;
    return seen->count;
}

/* Does the program abort at this hazard (halt_on_error=1)? Not at an advisory one, which may be
 * meant. */
static bool ends_process(const struct sc_hazard *hazard)
{
    return !sc_hazard_is_advisory(hazard) &&
           atomic_load_explicit(&report.opened, memory_order_acquire) &&
           report.options->halt_on_error;
}

/* Writes the hazard's line. `count`: how many equal ones there have been so far. */
static void write_hazard_locked(const struct sc_hazard *hazard, uint64_t count,
                                const struct sc_json_lines_stacks *stacks) SC_REQUIRES(report.mutex)
{
    SC_ASSERT_HELD(&report.mutex);
    SC_TRACE("hazard-line code count", hazard->code, count);
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_hazard(&line, hazard, count, stacks, &report.names);
    write_line_locked(&line);
}

/* Tells stderr at which hazard the program halts (halt_on_error=1), since no summary comes after
 * an abort. The first thread tells; the buffer is static, and one hazard is enough. */
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

/* Counts a hazard and writes its line, if one is due. The stacks are named between two times of
 * holding the lock, since naming takes the loader's lock. Returns whether a line was due. */
bool sc_report_hazard(const struct sc_hazard *hazard)
{
    struct sc_hazard strongest = *hazard;
    bool writes;
    uint64_t count = count_hazard(&strongest, &writes);
    if (ends_process(hazard))
        tell_hazard(hazard);
    /* Without a file only the first of equal hazards is named: the summary needs its place. */
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

/* Writes when the copy of a hazard ran on the device, as CUPTI told later, and keeps how long it
 * ran on after the event, for the summary. */
void sc_report_timing(const struct sc_hazard *hazard, const struct sc_report_timing *timing)
{
    REPORT_LOCKED();
    sc_hazard_counts_note_time(hazard, (int64_t)(timing->end_ns - hazard->event.time_ns));
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_timing(&line, hazard, timing);
    write_line_locked(&line);
}

/* Counts a driver call that came through none of our wrappers, as CUPTI shows, and writes a line
 * whenever the count of equal calls is a power of two. Its stack is named without the lock, since
 * naming takes the loader's. Returns whether a line was written. */
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

/* Writes the line that says that CUPTI is wanted, and not or no longer to be had. */
void sc_report_cupti(const struct sc_report_cupti *cupti)
{
    REPORT_LOCKED();
    struct sc_text line = sc_text_in(line_bytes, sizeof line_bytes);
    sc_json_lines_cupti(&line, cupti);
    write_line_locked(&line);
}

/* Writes the line about a lost context, and keeps its gist for the summary. It is long and names
 * many stacks, which takes the loader's lock, so it is made before the report's lock is taken
 * again. */
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

/* Makes the process fail at its end as with strict=1, for a reason that is no hazard (bad
 * options). */
void sc_report_fail(void)
{
    REPORT_LOCKED();
    report.failed = true;
    add_verdict_to_roll_locked();
}

/* Copies the counts of hazards so far. */
void sc_report_counts(struct sc_report_counts *counts)
{
    REPORT_LOCKED();
    *counts = report.counts;
}

/* Stores the report's path, "" if there is none. */
void sc_report_path(char *path, size_t size)
{
    struct sc_text text = sc_text_in(path, size);
    REPORT_LOCKED();
    sc_text_put(&text, report.fd >= 0 ? report.path : "");
}

/* Is there a hazard of the certainty that the option says strict counts? Advisory ones do not
 * count. */
static bool strict_counts(const struct sc_options *options, const struct sc_report_counts *counts)
{
    return (options->certainty == SC_OBSERVED ? counts->observed : counts->hazards) > 0;
}

/* Returns the status that the process is to end with: the option's if strict=1 counts a hazard, or
 * sc_report_fail was called. A process that fails by itself keeps its own status. */
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

/* Is the summary to be printed on stderr? With verbosity=1 only if it has more to say than that
 * all went well. With strict=1 the user is also told what was not judged (the run passed without
 * it), and which suppressions are of no use. */
static bool is_worth_printing(const struct sc_summary *summary)
{
    const struct sc_report_totals *totals = summary->totals;
    bool strict = summary->options->strict;
    bool has_doubts =
        strict && (totals->shared_memory > 0 || sc_no_verdicts_given_up(totals->no_verdicts) > 0 ||
                   sc_no_verdicts_suspected(totals->no_verdicts) > 0);
    bool has_unused = summary->counts.suppressed > 0 && sc_summary_has_idle(/*expired=*/false);
    bool tells_idle = strict && (has_unused || sc_summary_has_idle(/*expired=*/true));
    bool has_news = summary->counts.hazards > 0 || summary->counts.advisories > 0 ||
                    totals->coverage.missed > 0 || summary->postmortem.name || has_doubts ||
                    tells_idle;
    return summary->options->verbosity >= (has_news ? 1 : 2);
}

/* Copies into *summary what is told on stderr, so that it can be written without the lock. Returns
 * whether it is to be printed; if so with strict=1, `safecopy run` is told that this process says
 * its verdict itself. */
static bool prepare_summary_locked(struct sc_summary *summary,
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
    add_to_roll_locked(SC_ROLL_TOLD, is_printed && report.options->strict, NULL);
    return is_printed;
}

/* Parts of a line whose stacks are named before the lock is taken. Too large for a thread's stack,
 * so they are mapped. */
struct parts {
    struct sc_guard_part_sites sites;
    struct sc_memory_part memory;
    struct sc_limits_part limits;
};

/* Ends the use of parts; NULL is allowed. The cleanup of PARTS, so it gets the variable's
 * address. */
static void unmap_parts(struct parts *const *parts)
{
    sc_pages_unmap(*parts, sizeof **parts);
}

/* Names the stacks of those parts that there are, before the report's lock is taken. Returns NULL
 * if there is none, or no memory: the line then lacks them. */
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

/* Returns the part about memory, or NULL if the ledger, which accounts for memory, is off. */
static const struct sc_memory_part *memory_of(const struct parts *parts)
{
    return parts && parts->memory.statement ? &parts->memory : NULL;
}

/* Prints the summary on stderr, once in a process, so the buffer is static. `memory` (NULL: none)
 * is told with verbosity=2. */
static void print_summary(const struct sc_summary *summary, const struct sc_memory_part *memory)
{
    static char bytes[16 * 1024];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_summary_write(&text, summary);
    if (memory && report.options->verbosity >= 2)
        sc_memory_part_say(&text, memory);
    write_to_stderr(&text);
}

/* Writes the report's summary line. Parts that could not be named for want of memory are left
 * out. */
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

/* Writes the summary line, and prints the summary if the process ends (`final`). Before an exec a
 * line is written, too, since nothing else of this program may follow; it is not final. After a
 * final one this does nothing. */
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
        /* `safecopy run` with a format shows the reports: then nothing is printed here. */
        bool is_shown = add_to_roll_locked(SC_ROLL_ENDED, totals->final && is_written, NULL) &&
                        report.fd >= 0 && report.options->verbosity < 2;
        if (!totals->final || is_shown || !prepare_summary_locked(&summary, totals))
            return;
    }
    print_summary(&summary, memory_of(parts));
}

/* Writes a `memory` line: who has which memory now. Without room for the names there is none. */
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

/* Writes what a memory line has as JSON into `bytes`, for safecopy_memory(). Returns its length; 0
 * if it did not fit. */
size_t sc_report_memory_text(const struct sc_statement *statement, char *bytes, size_t size)
{
    PARTS(parts, statement, NULL, NULL);
    struct sc_text text = sc_text_in(bytes, size);
    sc_json_lines_held(&text, memory_of(parts));
    if (text.cut || !parts)
        sc_text_rewind(&text, 0);
    return text.used;
}

/* Says on stderr which allocation failed for want of memory, in one write, so that no other
 * thread's line comes between its words. */
static void say_oom(const struct sc_oom *oom, const struct sc_memory_part *memory)
{
    SC_TEXT(text, 1024);
    sc_oom_line_say(&text, oom, memory);
    sc_report_say(NULL, text.bytes);
}

/* Writes a line about an allocation that failed for want of memory. The stack's frames are named
 * before the lock is taken, since that takes the loader's lock. */
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

/* Prints the summary as the program aborts, since its end may never come; only if there is a
 * hazard or a lost context to tell of, and the summary was not written before. */
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
        if (!prepare_summary_locked(&summary, totals))
            return;
    }
    print_summary(&summary, NULL);
}

/* Makes the report begin anew in a forked child, which opens its own at its first use of CUDA. The
 * parent's file is closed here, not written. Locks are made anew: another thread of the parent may
 * have held them. The tables of counts are emptied only if they were used, so that a fork copies
 * no pages for nothing. */
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
