#define _GNU_SOURCE 1
#include "report/command/watch/sender.h"

#include "report/command/fields.h"
#include "report/command/otlp.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"
#include "report/command/watch/watch_report.h"
#include "report/command/watch/watch_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH_BYTES = 512 * 1024, /* of reports */
    BETWEEN_MS = 1000,
    BACKOFF_MAX_MS = 60000,
    SAVE_MS = 1000
};

static const char *const paths[] = {"v1/logs", "v1/metrics"};
static const char *const members[] = {"resourceLogs", "resourceMetrics"};
static const char *const kinds[] = {"logs", "metrics"};

/* ---- beginning ---- */

static bool is_url(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

/* Checks where to send, and reads what an earlier run has sent. Prints a message and returns false
 * if that fails. */
bool sc_sender_begin(struct sc_sender *sender)
{
    if (!sender->url)
        return true;
    if (!is_url(sender->url)) {
        sc_say("--otlp takes http://HOST:PORT or https://..., and not %s", sender->url);
        return false;
    }
    sender->curl = sc_post_find_curl();
    if (!sender->curl) {
        sc_say("--otlp sends by the program curl, and there is none in PATH: install the package "
               "curl (apt-get install curl)");
        return false;
    }
    sender->known = sc_watch_state_read(sender->state);
    return sender->known != NULL;
}

/* ---- a batch ---- */

struct making {
    struct sc_sender *sender;
    const struct sc_followed *file;
    struct sc_watch_report *report; /* of the file */
    struct sc_otlp_clock clock;
    struct sc_otlp_metrics metrics;
    json_t *records;
    bool has_changed;
    bool is_replay; /* what was taken in a run before is read again, and not sent */
};

/* Returns the clock of the report's process. Its times are converted to dates only if it ran on
 * this machine, since the machine's last start. */
static struct sc_otlp_clock clock_of(const struct sc_followed *file)
{
    struct sc_otlp_clock clock = sc_otlp_clock_own();
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    clock.is_known = strcmp(sc_field_string(file->report->sent.run, "host", ""), host) == 0 &&
                     file->changed_s > clock.offset_ns / 1000000000;
    return clock;
}

/* Adds a log record to the message that is being made. */
static void add_record(struct making *making, json_t *record)
{
    json_array_append_new(making->records, record);
    making->sender->records++;
}

/* Adds a hazard, with names in its stacks, as a log record. */
static void add_hazard(struct making *making, json_t *record)
{
    struct sc_watch_makers *makers = making->sender->makers;
    const struct sc_shown *hazard = sc_watched_show(&making->report->sent, makers, record);
    add_record(making, sc_otlp_hazard(&making->clock, &makers->scratch, hazard));
}

/* Adds a failed allocation as a log record. */
static void add_oom(struct making *making, const json_t *record)
{
    const char *words =
        sc_scratch_print(&making->sender->makers->scratch,
                         "there was no memory for %s of %" JSON_INTEGER_FORMAT " bytes: %s",
                         sc_field_string(record, "api", "?"), sc_field_number(record, "size"),
                         sc_field_string(record, "verdict", "?"));
    add_record(making, sc_otlp_event(&making->clock, SC_OTLP_ERROR, "safecopy.oom", words,
                                     sc_field_number(record, "time_ns")));
}

/* Adds a lost context as a log record. */
static void add_postmortem(struct making *making, const json_t *record)
{
    add_record(making,
               sc_otlp_event(&making->clock, SC_OTLP_FATAL, "safecopy.postmortem",
                             sc_watched_loss(&making->report->sent, making->sender->makers, record),
                             sc_field_number(json_object_get(record, "call"), "time_ns")));
}

/* Adds the end of a process as a log record, and its last counts and memory. */
static void add_end(struct making *making, const json_t *record)
{
    const json_t *status = json_object_get(record, "exit_status");
    const char *words =
        json_is_integer(status)
            ? sc_scratch_print(&making->sender->makers->scratch,
                               "the process ended with status %" JSON_INTEGER_FORMAT,
                               json_integer_value(status))
            : "the process ended";
    add_record(making, sc_otlp_event(&making->clock, SC_OTLP_INFO, "safecopy.ended", words, 0));
    sc_otlp_put_operations(&making->metrics, &making->clock, sc_field_number(record, "operations"));
    sc_otlp_put_memory(&making->metrics, &making->clock, json_object_get(record, "memory"));
}

/* Adds to the batch what a line of a report tells. */
static void add_news(struct making *making, enum sc_watch_news news, json_t *record)
{
    switch (news) {
    case SC_WATCH_HAZARD:
        add_hazard(making, record);
        return;
    case SC_WATCH_MEMORY:
        sc_otlp_put_memory(&making->metrics, &making->clock, json_object_get(record, "memory"));
        return;
    case SC_WATCH_OOM:
        add_oom(making, record);
        return;
    case SC_WATCH_POSTMORTEM:
        add_postmortem(making, record);
        return;
    case SC_WATCH_SUMMARY:
        add_end(making, record);
        return;
    case SC_WATCH_BAD:
        add_record(making, sc_otlp_event(&making->clock, SC_OTLP_WARN, "safecopy.in_doubt",
                                         "a line of the report cannot be read", 0));
        return;
    default:
        return;
    }
}

/* Takes a line of a report into the messages that are to be sent. Of lines that an earlier watch
 * has sent only the counts are taken. */
static void take_line(void *context, const char *line, size_t size)
{
    struct making *making = context;
    struct sc_watched *sent = &making->report->sent;
    json_t *record;
    if (!making->report->is_begin_known) {
        making->report->begin = sc_watch_state_digest(line, size);
        making->report->is_begin_known = true;
    }
    enum sc_watch_news news = sc_watched_take(sent, making->sender->makers, line, size, &record);
    if (news == SC_WATCH_RUN)
        making->clock = clock_of(making->file);
    if (!making->is_replay)
        add_news(making, news, record);
    making->has_changed = true;
    json_decref(record);
}

/* Adds the counts of hazards by code to the metrics. */
static void put_counts(struct making *making)
{
    const struct sc_watched *sent = &making->report->sent;
    for (size_t i = 0; i < sent->tally_count; i++)
        sc_otlp_put_hazards(&making->metrics, &making->clock, sent->tallies[i].code,
                            sc_watched_sum(&sent->tallies[i]));
}

/* Puts what was collected of one process into the lists of the batch. */
static void put_messages(struct making *making, json_t **lists)
{
    const json_t *run = making->report->sent.run;
    if (json_array_size(making->records) > 0)
        json_array_append_new(
            lists[0], sc_otlp_resource_logs(sc_otlp_resource(run), json_incref(making->records)));
    if (making->has_changed)
        put_counts(making);
    if (making->metrics.by_name)
        json_array_append_new(lists[1],
                              sc_otlp_resource_metrics(sc_otlp_resource(run), &making->metrics));
}

/* Adds a record that the process has died, once. */
static void note_death(struct making *making)
{
    struct sc_watch_report *report = making->report;
    if (!report->is_dead || report->told_dead)
        return;
    report->told_dead = true;
    add_record(making, sc_otlp_event(&making->clock, SC_OTLP_WARN, "safecopy.not_ended",
                                     "the process is no more, and has not ended normally", 0));
}

/* Reads again the lines of the report that the collector had accepted in an earlier run of the
 * command, without sending them, to continue with the right counts. */
static void replay(struct sc_follow *follow, struct sc_followed *file, struct making *making)
{
    struct sc_watch_report *report = file->report;
    struct sc_follow_cursor first = {.cuts = file->cuts};
    making->is_replay = true;
    if (!report->is_begin_known) {
        sc_follow_read(follow, file, &first, 1, take_line, making);
        sc_watched_free(&report->sent);
    }
    report->taken_to =
        report->is_begin_known ? sc_watch_state_find(making->sender->known, &report->begin) : 0;
    report->taken_to = report->taken_to <= file->size ? report->taken_to : 0;
    while (report->sent_to.at < report->taken_to &&
           sc_follow_read(follow, file, &report->sent_to,
                          (size_t)(report->taken_to - report->sent_to.at), take_line, making) > 0)
        continue;
    making->is_replay = making->has_changed = false;
}

/* Returns how many bytes of the report went into the batch. */
static size_t add_report(struct sc_sender *sender, struct sc_follow *follow,
                         struct sc_followed *file, json_t **lists, size_t most)
{
    struct sc_watch_report *report = file->report;
    struct making making = {.sender = sender,
                            .file = file,
                            .report = report,
                            .clock = clock_of(file),
                            .records = json_array()};
    if (report->sent_to.at == 0 && report->sent_to.cuts == 0 && sender->state)
        replay(follow, file, &making);
    size_t taken = sc_follow_read(follow, file, &report->sent_to, most, take_line, &making);
    if (!sc_follow_has_more(file, &report->sent_to) || taken == 0)
        note_death(&making);
    put_messages(&making, lists);
    json_decref(making.records);
    sc_watch_makers_forget(sender->makers);
    return taken;
}

/* Makes the next messages, of as many reports as a batch has room for. */
static void make_batch(struct sc_sender *sender, struct sc_follow *follow)
{
    json_t *lists[2] = {json_array(), json_array()};
    size_t size = 0;
    for (struct sc_followed *file = follow->first; file && size < BATCH_BYTES; file = file->next) {
        struct sc_watch_report *report = file->report;
        bool has_more =
            sc_follow_has_more(file, &report->sent_to) || (report->is_dead && !report->told_dead);
        if (has_more)
            size += add_report(sender, follow, file, lists, BATCH_BYTES - size);
    }
    sender->has_moved = sender->has_moved || size > 0;
    for (int i = 0; i < 2; i++) {
        bool is_empty = json_array_size(lists[i]) == 0 || sender->unwanted[i];
        sender->messages[i] = is_empty ? NULL : sc_otlp_message(members[i], lists[i]);
        if (is_empty)
            json_decref(lists[i]);
    }
}

/* ---- what comes of it ---- */

/* Returns which message waits to be sent: 0 logs, 1 metrics, -1 none. */
static int next_message(const struct sc_sender *sender)
{
    return sender->messages[0] ? 0 : sender->messages[1] ? 1 : -1;
}

/* Frees the words for why sending failed, since it has succeeded again. */
static void forget_problem(struct sc_sender *sender)
{
    free(sender->problem);
    sender->problem = NULL;
    sender->failures = 0;
}

/* Writes down up to where each report was sent (--state), if that has changed: a later watch goes
 * on from there. */
static void save(struct sc_sender *sender, const struct sc_follow *follow)
{
    if (sender->state && !sender->is_saved)
        sender->is_saved = sc_watch_state_write(sender->state, follow);
}

/* Records how far the reports are sent, when all messages of a batch were taken, or refused for
 * good. */
static void end_batch(struct sc_sender *sender, const struct sc_follow *follow, int64_t now_ms)
{
    for (const struct sc_followed *file = follow->first; file; file = file->next)
        file->report->taken_to = file->report->sent_to.at;
    sender->taken += sender->records;
    sender->records = 0;
    sender->is_saved = sender->is_saved && !sender->has_moved;
    sender->has_moved = false;
    if (now_ms - sender->saved_ms >= SAVE_MS) {
        save(sender, follow);
        sender->saved_ms = now_ms;
    }
}

/* Counts, and says on stderr, what the collector did not take of a message that it took else. */
static void take_partial(struct sc_sender *sender, const char *words)
{
    json_t *answer = words ? json_loads(words, 0, NULL) : NULL;
    const json_t *partial = json_object_get(answer, "partialSuccess");
    static const char *const names[] = {"rejectedLogRecords", "rejectedDataPoints"};
    long long rejected = 0;
    for (size_t i = 0; i < 2; i++) {
        const json_t *count = json_object_get(partial, names[i]);
        rejected += json_is_string(count) ? atoll(json_string_value(count))
                                          : (long long)json_integer_value(count);
    }
    if (rejected > 0) {
        sender->refused += (uint64_t)rejected;
        sc_say("the collector refuses %lld: %s", rejected,
               sc_field_string(partial, "errorMessage", "it does not say why"));
    }
    json_decref(answer);
}

/* May the message be sent again after this status of HTTP? OTLP names the statuses; 0 means that
 * curl got no answer. */
static bool may_be_tried_again(int status)
{
    return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

/* Keeps in words why sending failed, for the screen: one line, and of the answer its beginning. */
static void set_problem(struct sc_sender *sender, const struct sc_post_answer *answer)
{
    const char *words = answer->words ? answer->words : "";
    forget_problem(sender);
    if (answer->status == 0)
        sender->problem = strdup(words);
    else if (asprintf(&sender->problem, "status %d%s%.200s", answer->status,
                      words[0] != '\0' ? ": " : "", words) < 0)
        sender->problem = NULL;
    if (sender->problem)
        sender->problem[strcspn(sender->problem, "\r\n")] = '\0';
}

/* Sets when to try again: twice as long each time, with some chance in it so that many senders do
 * not come at once, or as the receiver asks. */
static void try_later(struct sc_sender *sender, const struct sc_post_answer *answer,
                      unsigned failures, int64_t now_ms)
{
    int64_t wait_ms = failures < 6 ? BETWEEN_MS << failures : BACKOFF_MAX_MS;
    wait_ms = wait_ms < BACKOFF_MAX_MS ? wait_ms : BACKOFF_MAX_MS;
    wait_ms += (int64_t)(sc_digest_key()[0] ^ (uint64_t)now_ms) % 256 * wait_ms / 1024;
    if (answer->retry_after_s >= 0)
        wait_ms = answer->retry_after_s * INT64_C(1000);
    sender->failures = failures + 1;
    sender->due_ms = now_ms + wait_ms;
}

/* Does the status say that the collector has no such path, as one that accepts only logs or only
 * metrics? Then notes that, drops the message, and returns true. Returns false if the other kind
 * of message is unwanted already. */
static bool is_without(struct sc_sender *sender, const struct sc_post_answer *answer, int message)
{
    bool is_absent = answer->status == 404 || answer->status == 405 || answer->status == 501;
    if (!is_absent || sender->unwanted[1 - message])
        return false;
    sender->unwanted[message] = true;
    sc_say("the collector takes no %s (%s), and only %s are sent", kinds[message],
           sender->problem ? sender->problem : "?", kinds[1 - message]);
    forget_problem(sender);
    free(sender->messages[message]);
    sender->messages[message] = NULL;
    return true;
}

/* Handles an answer by which the collector refuses a message for good. If the message itself is
 * wrong or too large (400, 413), it is dropped. If the collector accepts no such messages, they
 * are no longer sent. In all other cases nothing more is sent at all. */
static void refuse(struct sc_sender *sender, const struct sc_post_answer *answer, int message)
{
    if (answer->status == 400 || answer->status == 413) {
        sender->refused += sender->records;
        sc_say("the collector refuses a batch: %s", sender->problem ? sender->problem : "?");
        free(sender->messages[message]);
        sender->messages[message] = NULL;
        return;
    }
    if (is_without(sender, answer, message))
        return;
    sender->has_stopped = true;
    sc_say("the collector refuses (%s), and nothing more is sent; %s/%s is what it was asked for",
           sender->problem ? sender->problem : "?", sender->url, paths[message]);
}

/* Takes the answer to a message that was sent: the message is done, tried later, or refused for
 * good. After the last one the batch ends. */
static void take_answer(struct sc_sender *sender, const struct sc_follow *follow, int64_t now_ms)
{
    int message = next_message(sender);
    struct sc_post_answer answer = sc_post_take(&sender->post);
    unsigned failures = sender->failures;
    sender->due_ms = now_ms;
    if (answer.status >= 200 && answer.status < 300) {
        take_partial(sender, answer.words);
        forget_problem(sender);
        free(sender->messages[message]);
        sender->messages[message] = NULL;
    } else {
        set_problem(sender, &answer);
        if (may_be_tried_again(answer.status))
            try_later(sender, &answer, failures, now_ms);
        else
            refuse(sender, &answer, message);
    }
    free(answer.words);
    if (next_message(sender) < 0 && !sender->has_stopped)
        end_batch(sender, follow, now_ms);
}

/* ---- steps ---- */

/* Begins to send a message; if that fails, it is tried later. */
static void begin_post(struct sc_sender *sender, int message, int64_t now_ms)
{
    char *url = NULL;
    size_t length = strlen(sender->url);
    while (length > 0 && sender->url[length - 1] == '/')
        length--;
    bool is_begun = asprintf(&url, "%.*s/%s", (int)length, sender->url, paths[message]) >= 0 &&
                    sc_post_begin(&sender->post, sender->curl, url, sender->messages[message]);
    if (!is_begun) {
        struct sc_post_answer answer = {.retry_after_s = -1, .words = strerror(errno)};
        unsigned failures = sender->failures;
        set_problem(sender, &answer);
        try_later(sender, &answer, failures, now_ms);
    }
    free(url);
}

/* Does what is due: takes an answer, makes a batch of what the reports have got, or sends the next
 * message. Never waits. */
void sc_sender_step(struct sc_sender *sender, struct sc_follow *follow, int64_t now_ms)
{
    if (!sender->url || sender->has_stopped)
        return;
    if (sender->post.child != 0 && !sc_post_is_over(&sender->post))
        return;
    if (sender->post.child != 0)
        take_answer(sender, follow, now_ms);
    if (sender->has_stopped || now_ms < sender->due_ms)
        return;
    if (next_message(sender) < 0)
        make_batch(sender, follow);
    if (next_message(sender) >= 0)
        begin_post(sender, next_message(sender), now_ms);
    else
        end_batch(sender, follow, now_ms);
}

/* Returns when sc_sender_step is to be called next; INT64_MAX: not before something happens. */
int64_t sc_sender_due_ms(const struct sc_sender *sender)
{
    bool waits =
        sender->url && !sender->has_stopped && sender->post.child == 0 && next_message(sender) >= 0;
    return waits ? sender->due_ms : INT64_MAX;
}

/* Returns a descriptor that becomes readable when the answer is there; -1: nothing is sent. */
int sc_sender_descriptor(const struct sc_sender *sender)
{
    return sender->post.child != 0 ? sender->post.alive : -1;
}

/* Has the collector accepted all that can be sent of the file? That is at least all that was shown
 * of it. If the file was removed and is not open, or nothing more is sent at all, there is nothing
 * left to send. */
bool sc_sender_has_all_of(const struct sc_sender *sender, const struct sc_followed *file)
{
    const struct sc_watch_report *report = file->report;
    if (sc_follow_is_gone(file) && file->fd < 0)
        return true;
    return !sender->url || sender->has_stopped ||
           (next_message(sender) < 0 && report->sent_to.cuts == file->cuts &&
            report->sent_to.at >= report->shown_to.at && report->is_dead == report->told_dead);
}

/* Is the file gone before all of it was sent? */
bool sc_sender_has_lost_of(const struct sc_sender *sender, const struct sc_followed *file)
{
    return sender->url && sc_follow_is_gone(file) && file->fd < 0 &&
           file->report->sent_to.at < file->size;
}

/* Was everything sent that the reports have? */
bool sc_sender_is_done(const struct sc_sender *sender, const struct sc_follow *follow)
{
    for (const struct sc_followed *file = follow->first; file; file = file->next)
        if (!sc_sender_has_all_of(sender, file))
            return false;
    return true;
}

/* Returns what was sent, and what is wrong, as the screen shows it. */
const char *sc_sender_words(const struct sc_sender *sender, struct sc_scratch *scratch,
                            int64_t now_ms)
{
    const char *words =
        sc_scratch_print(scratch, "%" PRIu64 " sent to %s", sender->taken, sender->url);
    if (sender->refused > 0)
        words = sc_scratch_print(scratch, "%s, %" PRIu64 " refused", words, sender->refused);
    if (!sender->problem)
        return words;
    int64_t wait_ms = sender->due_ms - now_ms;
    return sc_scratch_print(scratch, "%s; not taken: %s%s", words, sender->problem,
                            sender->has_stopped ? "; nothing more is sent"
                            : wait_ms > 0 ? sc_scratch_print(scratch, "; again in %" PRId64 " s",
                                                             (wait_ms + 999) / 1000)
                                          : "");
}

/* Ends sending. Prints a message and returns false if not all was taken. */
bool sc_sender_end(struct sc_sender *sender, struct sc_follow *follow)
{
    bool is_done = !sender->url || (sc_sender_is_done(sender, follow) && !sender->has_stopped);
    sc_post_stop(&sender->post);
    save(sender, follow);
    if (!is_done)
        sc_say("not all was sent to %s%s%s; %s", sender->url, sender->problem ? ": " : "",
               sender->problem ? sender->problem : "",
               sender->state ? "the next run with this --state sends the rest"
                             : "without --state the next run sends everything again");
    return is_done && sender->refused == 0;
}

void sc_sender_free(struct sc_sender *sender)
{
    for (int i = 0; i < 2; i++)
        free(sender->messages[i]);
    json_decref(sender->known);
    free(sender->problem);
    free(sender->curl);
}
