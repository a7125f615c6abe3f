/* safecopy watch: follows reports while processes write them. */
#define _GNU_SOURCE 1
#include "report/command/command.h"
#include "report/command/fields.h"
#include "report/command/flags.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/shown_memory.h"
#include "report/command/watch/screen.h"
#include "report/command/watch/sender.h"
#include "report/command/watch/watch_report.h"
#include "report/path.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_MS = 1000, EVERY_MIN_MS = 50, EVERY_MAX_MS = 3600000, READ_MAX = 1024 * 1024 };

struct watch {
    struct sc_follow follow;
    struct sc_watch_makers makers;
    struct sc_sender sender;
    char host[256];
    int64_t every_ms;
    bool until_ended;
    int64_t quiet_s;  /* so long a report may stay as it is; 0: as long as it likes */
    bool is_painted;  /* on a terminal; else lines are printed */
    bool wants_lines; /* on a terminal too */
    bool was_seen;    /* a report */
    bool has_found;   /* a hazard */
    bool is_unread;   /* a line was bad */
    bool is_closed;   /* nobody reads what is printed */
    uint64_t hazards; /* titles made */
};

/* What is said while the terminal shows the table: it is told behind it. */
enum { SAID_MAX = 16 };
static char *said[SAID_MAX];
static size_t said_count;

/* Keeps a complaint until the screen is closed: printed now, it would be painted over. Further
 * ones than SAID_MAX are dropped. */
static void keep_said(const char *text)
{
    if (said_count < SAID_MAX)
        said[said_count] = strdup(text);
    said_count += said_count < SAID_MAX;
}

/* Prints, once the screen is closed, the messages that were kept while it was open. */
static void tell_said(void)
{
    sc_say_to(NULL);
    for (size_t i = 0; i < said_count; i++) {
        sc_say("%s", said[i] ? said[i] : "out of memory");
        free(said[i]);
    }
    said_count = 0;
}

/* ---- signals ---- */

static volatile sig_atomic_t ending, stopping;

/* Handles a signal: notes which one has come, for the loop that shows. SIGTSTP (Ctrl-Z) stops the
 * command, any other one ends it. */
static void note_signal(int number)
{
    *(number == SIGTSTP ? &stopping : &ending) = number;
}

/* Blocks the signals that end or stop the command, except while it waits, so that it ends between
 * two steps. */
static void heed_signals(sigset_t *before)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    const struct sigaction handler = {.sa_handler = note_signal};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        sigaction(ends[i], &handler, NULL);
        sigaddset(&blocked, ends[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &blocked, before);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        sigdelset(before, ends[i]);
}

/* ---- lines ---- */

struct reading {
    struct watch *watch;
    struct sc_watch_report *report;
    bool has_memory; /* in what was read */
    size_t bad_lines;
};

/* Prints a line of news about one report; on a painted screen there are no lines. */
static void print_line(struct watch *watch, const struct sc_watch_report *report, const char *words)
{
    if (watch->is_painted)
        return;
    printf("%s: %s\n", sc_say_plain(sc_watched_name(&report->shown, &watch->makers.scratch)),
           sc_say_plain(words));
}

/* Keeps the newest hazard's title, which the screen shows. */
static void keep_title(struct watch *watch, struct sc_watch_report *report,
                       const struct sc_shown *hazard)
{
    char *title = strdup(sc_say_plain(hazard->title));
    if (!title)
        return;
    free(report->shown.newest);
    report->shown.newest = title;
    report->hazard_order = ++watch->hazards;
}

/* Shows a hazard that has come, and how often. */
static void show_hazard(struct watch *watch, struct sc_watch_report *report, json_t *record)
{
    struct sc_scratch *scratch = &watch->makers.scratch;
    const struct sc_shown *hazard = sc_watched_show(&report->shown, &watch->makers, record);
    keep_title(watch, report, hazard);
    print_line(watch, report,
               sc_scratch_print(scratch, "%s (%s, %" JSON_INTEGER_FORMAT " so far, %s)%s%s",
                                hazard->title, hazard->certainty, hazard->occurrences,
                                hazard->action, hazard->label ? ", during " : "",
                                hazard->label ? hazard->label : ""));
}

/* Takes a hazard's line: it is shown at once; or, as a painted table shows only the last one, kept
 * until all new lines are read. */
static void take_hazard(struct reading *reading, json_t *record)
{
    struct sc_watch_report *report = reading->report;
    bool counts = !json_is_true(json_object_get(record, "advisory")) &&
                  !json_is_object(json_object_get(record, "suppressed"));
    reading->watch->has_found = reading->watch->has_found || counts;
    if (!reading->watch->is_painted) {
        show_hazard(reading->watch, report, record);
        return;
    }
    json_decref(report->hazard);
    report->hazard = json_incref(record);
}

/* Shows that a process has ended, and with what. */
static void show_end(struct reading *reading, const json_t *record)
{
    struct watch *watch = reading->watch;
    struct sc_watch_report *report = reading->report;
    json_int_t hazards = sc_field_number(record, "hazards");
    json_int_t operations = sc_field_number(record, "operations");
    if (hazards > 0)
        watch->has_found = true;
    print_line(watch, report,
               sc_scratch_print(&watch->makers.scratch,
                                "ended, %s: %" JSON_INTEGER_FORMAT
                                " hazard%s in %" JSON_INTEGER_FORMAT " operation%s",
                                sc_screen_end(report, &watch->makers.scratch), hazards,
                                hazards == 1 ? "" : "s", operations, operations == 1 ? "" : "s"));
}

/* Takes one new line of a report: notes it, and prints what is news. */
static void take_line(void *context, const char *line, size_t size)
{
    struct reading *reading = context;
    struct watch *watch = reading->watch;
    struct sc_watch_report *report = reading->report;
    json_t *record;
    enum sc_watch_news news = sc_watched_take(&report->shown, &watch->makers, line, size, &record);
    reading->has_memory = reading->has_memory || news == SC_WATCH_MEMORY;
    reading->bad_lines += news == SC_WATCH_BAD;
    if (news == SC_WATCH_RUN)
        print_line(watch, report, report->has_begun ? "goes on as another program" : "began");
    if (news == SC_WATCH_RUN)
        report->has_begun = true;
    if (news == SC_WATCH_HAZARD)
        take_hazard(reading, record);
    if (news == SC_WATCH_SUMMARY)
        show_end(reading, record);
    if (news == SC_WATCH_OOM)
        print_line(watch, report, "there was no memory for an allocation");
    if (news == SC_WATCH_POSTMORTEM)
        print_line(watch, report, sc_watched_loss(&report->shown, &watch->makers, record));
    json_decref(record);
}

/* ---- a report ---- */

/* Returns whether the process has ended, whatever its report says. Only a process of this machine
 * can be checked. */
static bool is_dead(const struct watch *watch, const struct sc_watched *shown)
{
    json_int_t pid = sc_field_number(shown->run, "pid");
    json_int_t started = sc_field_number(shown->run, "started");
    bool is_known = shown->run && started > 0 && pid > 0 && pid <= INT32_MAX &&
                    strcmp(sc_field_string(shown->run, "host", ""), watch->host) == 0;
    return is_known && sc_path_find_start((int32_t)pid) != (uint64_t)started;
}

/* Shows what is shown once per reading of a report, however many lines came. */
static void show_rest(struct reading *reading)
{
    struct watch *watch = reading->watch;
    struct sc_watch_report *report = reading->report;
    struct sc_scratch *scratch = &watch->makers.scratch;
    if (report->hazard) {
        show_hazard(watch, report, report->hazard);
        json_decref(report->hazard);
        report->hazard = NULL;
    }
    if (reading->has_memory && report->shown.run && !report->shown.has_ended)
        print_line(watch, report,
                   sc_scratch_print(scratch, "holds %s, %s page-locked",
                                    sc_shown_memory_size(scratch, report->shown.device_bytes),
                                    sc_shown_memory_size(scratch, report->shown.host_bytes)));
    if (reading->bad_lines > 0) {
        watch->is_unread = true;
        print_line(watch, report,
                   sc_scratch_print(scratch, "%zu lines could not be read", reading->bad_lines));
    }
}

/* Records that the process has died, once the last lines that it wrote have been read. */
static void look_whether_dead(struct watch *watch, struct sc_followed *file, bool was_dead)
{
    struct sc_watch_report *report = file->report;
    report->is_dead = was_dead && !report->shown.has_ended;
    if (report->is_dead && !report->was_told_dead) {
        report->was_told_dead = true;
        print_line(watch, report, "the process is no more, and has not ended normally");
    }
}

/* Reads what has been appended to a report since the last look. */
static void read_report(struct watch *watch, struct sc_followed *file)
{
    if (!file->report)
        file->report = calloc(1, sizeof *file->report);
    if (!file->report) {
        sc_say("out of memory");
        exit(SC_COMMAND_USAGE);
    }
    struct sc_watch_report *report = file->report;
    struct reading reading = {watch, report, false, 0};
    bool was_dead = !report->shown.has_ended && is_dead(watch, &report->shown);
    while (sc_follow_read(&watch->follow, file, &report->shown_to, READ_MAX, take_line, &reading) >
           0)
        continue;
    show_rest(&reading);
    look_whether_dead(watch, file, was_dead);
    watch->was_seen = watch->was_seen || report->shown.run;
    sc_watch_makers_forget(&watch->makers);
}

/* Frees what is known of one followed report; NULL does nothing. */
static void free_report(struct sc_watch_report *report)
{
    if (!report)
        return;
    sc_watched_free(&report->shown);
    sc_watched_free(&report->sent);
    json_decref(report->hazard);
    free(report);
}

/* Drops the files that are gone, and of which nothing more can come. */
static void drop_gone(struct watch *watch)
{
    struct sc_followed *file = watch->follow.first, *next;
    for (; file; file = next) {
        next = file->next;
        if (!sc_follow_is_gone(file) || !sc_sender_has_all_of(&watch->sender, file))
            continue;
        print_line(watch, file->report, "the report was removed");
        if (sc_sender_has_lost_of(&watch->sender, file))
            sc_say("%s was removed before all of it was sent", file->path);
        free_report(file->report);
        sc_follow_drop(&watch->follow, file);
    }
}

/* Looks for reports, reads what each has got since the last time, and drops those that are
 * gone. */
static void read_all(struct watch *watch)
{
    sc_follow_look(&watch->follow);
    for (struct sc_followed *file = watch->follow.first; file; file = file->next)
        read_report(watch, file);
    drop_gone(watch);
}

/* ---- the whole ---- */

/* Returns the time of a clock that is never set back. */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Paints the screen, or else writes what is new, and forgets what was made for that. is_closed:
 * nobody reads stdout any more. */
static void show(struct watch *watch)
{
    struct sc_scratch *scratch = &watch->makers.scratch;
    if (watch->is_painted)
        sc_screen_paint(&watch->follow, watch->sender.url
                                            ? sc_sender_words(&watch->sender, scratch, now_ms())
                                            : NULL);
    watch->is_closed = fflush(stdout) != 0 || ferror(stdout);
    sc_watch_makers_forget(&watch->makers);
}

/* Has the process ended? One of another machine cannot be seen to die: it counts as ended when its
 * report stays unchanged for as long as the user says. */
static bool has_ended(const struct watch *watch, const struct sc_followed *file)
{
    const struct sc_watched *shown = &file->report->shown;
    bool is_here = strcmp(sc_field_string(shown->run, "host", ""), watch->host) == 0;
    bool is_quiet =
        watch->quiet_s > 0 && !is_here && time(NULL) - file->changed_s >= watch->quiet_s;
    return shown->has_ended || file->report->is_dead || is_quiet;
}

/* Returns whether the watch is to end: by a signal, because nobody reads its output, or because all
 * processes have ended. */
static bool is_over(const struct watch *watch)
{
    if (ending != 0 || watch->is_closed)
        return true;
    if (!watch->until_ended || !watch->was_seen)
        return false;
    for (const struct sc_followed *file = watch->follow.first; file; file = file->next)
        if (!has_ended(watch, file))
            return false;
    return watch->sender.has_stopped || sc_sender_is_done(&watch->sender, &watch->follow);
}

/* Sleeps until something is due, the collector has answered, stdout was closed by its reader, or a
 * signal has come. */
static void wait_for_news(struct watch *watch, int64_t due_ms, const sigset_t *mask)
{
    struct pollfd files[] = {{.fd = STDOUT_FILENO, .events = 0},
                             {.fd = sc_sender_descriptor(&watch->sender), .events = POLLIN}};
    int64_t send_ms = sc_sender_due_ms(&watch->sender), left_ms;
    due_ms = send_ms < due_ms ? send_ms : due_ms;
    left_ms = due_ms - now_ms();
    left_ms = left_ms > 0 ? left_ms : 0;
    const struct timespec left = {left_ms / 1000, left_ms % 1000 * 1000000};
    if (ppoll(files, 2, &left, mask) > 0 && (files[0].revents & (POLLERR | POLLHUP | POLLNVAL)))
        watch->is_closed = true;
}

/* Stops this process if the user has pressed Ctrl-Z; the shell gets its screen back meanwhile. */
static void stop_if_asked(const struct watch *watch)
{
    if (stopping == 0)
        return;
    stopping = 0;
    if (watch->is_painted)
        sc_screen_close();
    raise(SIGSTOP);
    if (watch->is_painted)
        sc_screen_open();
}

/* Reads the reports again and again, and sends what is to be sent, until the watch is over. */
static void follow(struct watch *watch, const sigset_t *mask)
{
    while (!is_over(watch)) {
        int64_t due_ms = now_ms() + watch->every_ms;
        read_all(watch);
        sc_sender_step(&watch->sender, &watch->follow, now_ms());
        show(watch);
        while (!is_over(watch) && now_ms() < due_ms) {
            wait_for_news(watch, due_ms, mask);
            stop_if_asked(watch);
            sc_sender_step(&watch->sender, &watch->follow, now_ms());
        }
    }
}

/* Prints the last state. Returns the exit status. */
static int end(struct watch *watch)
{
    if (watch->is_painted) {
        sc_screen_close();
        tell_said();
    }
    if (!watch->is_closed)
        sc_screen_print(stdout, &watch->follow);
    fflush(stdout);
    if (!sc_sender_end(&watch->sender, &watch->follow))
        return SC_COMMAND_USAGE;
    if (watch->has_found)
        return SC_COMMAND_FOUND;
    return watch->is_unread ? SC_COMMAND_USAGE : 0;
}

/* Frees all reports and what was made to read them. */
static void clean_up(struct watch *watch)
{
    for (struct sc_followed *file = watch->follow.first; file; file = file->next)
        free_report(file->report);
    sc_follow_free(&watch->follow);
    sc_sender_free(&watch->sender);
    sc_watch_makers_free(&watch->makers);
}

/* Watches until a signal or the end of the reports. On a screen complaints are kept to its end. */
static int run(struct watch *watch)
{
    sigset_t mask;
    heed_signals(&mask);
    if (watch->is_painted) {
        sc_say_to(keep_said);
        sc_screen_open();
    }
    follow(watch, &mask);
    return end(watch);
}

/* ---- flags ---- */

/* Takes the value of --every, in seconds. The comparisons are false for a NaN, too. */
static bool take_every(struct watch *watch, const char *text)
{
    char *rest;
    double seconds = strtod(text, &rest);
    if (*text == '\0' || *rest != '\0' || !(seconds * 1000 >= EVERY_MIN_MS) ||
        !(seconds * 1000 <= EVERY_MAX_MS)) {
        sc_say("--every takes seconds, from 0.05 to 3600, and not %s", text);
        return false;
    }
    watch->every_ms = (int64_t)(seconds * 1000);
    return true;
}

/* Takes --until-ended, with or without how many seconds a report must be quiet to count as
 * ended. */
static bool take_until_ended(struct watch *watch, const char *text)
{
    char *rest = NULL;
    watch->until_ended = true;
    watch->quiet_s = text ? strtol(text, &rest, 10) : 0;
    if (text && (*rest != '\0' || watch->quiet_s <= 0 || watch->quiet_s > EVERY_MAX_MS))
        sc_say("--until-ended takes whole seconds, and not %s", text);
    else
        return true;
    return false;
}

static bool take_flag(struct watch *watch, int flag)
{
    switch (flag) {
    case 'e':
        return take_every(watch, optarg);
    case 'u':
        return take_until_ended(watch, optarg);
    case 'l':
        return watch->wants_lines = true;
    case 't':
        watch->sender.url = optarg;
        return true;
    case 's':
        watch->sender.state = optarg;
        return true;
    default:
        return false;
    }
}

/* Handles the flags of `safecopy watch`, of which --state needs --otlp. Returns false, after a
 * message, if one is wrong. */
static bool take_flags(struct watch *watch, int argc, char **argv)
{
    int flag;
    while ((flag = sc_flags_next(argc, argv)) != -1)
        if (!take_flag(watch, flag))
            return false;
    if (optind == argc)
        sc_say("which reports? name a folder; see safecopy help watch");
    if (optind < argc && watch->sender.state && !watch->sender.url)
        sc_say("--state has nothing to hold for: --otlp says where to send");
    return optind < argc && (!watch->sender.state || watch->sender.url);
}

/* Runs `safecopy watch`, which follows reports while their processes write them. */
int sc_command_watch(int argc, char **argv)
{
    struct watch watch = {.every_ms = EVERY_MS};
    int status = SC_COMMAND_USAGE;
    if (!take_flags(&watch, argc, argv))
        return SC_COMMAND_USAGE;
    gethostname(watch.host, sizeof watch.host - 1);
    watch.sender.makers = &watch.makers;
    watch.is_painted = !watch.wants_lines && isatty(STDOUT_FILENO);
    if (sc_watch_makers_begin(&watch.makers) && sc_sender_begin(&watch.sender) &&
        sc_follow_begin(&watch.follow, argv + optind))
        status = run(&watch);
    clean_up(&watch);
    return status;
}
