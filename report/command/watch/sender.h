/* Sends hazards as logs, and counts and memory as metrics, to a collector of OpenTelemetry as they
 * happen.
 *
 * The reports are the queue. A batch is made of what lies behind the last one that was taken, is
 * kept until the collector takes it, and only then the next one is made. So nothing is lost while
 * the collector is down, and what is kept in memory is one batch. What is lost is what a removed
 * report still had when no descriptor could be kept for it, and what the collector refuses. */
#ifndef SC_REPORT_COMMAND_WATCH_SENDER_H
#define SC_REPORT_COMMAND_WATCH_SENDER_H

#include "report/command/watch/follow.h"
#include "report/command/watch/post.h"
#include "report/command/watch/watched.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The sender. All zero, except for what the flags say, is one that has sent nothing. */
struct sc_sender {
    const char *url;   /* NULL: nothing is sent */
    const char *state; /* the file that says what was taken; NULL: none */
    struct sc_watch_makers *makers;
    char *curl;
    /* for each report, known by its beginning: how far it was taken in a run before */
    json_t *known;
    struct sc_post post;
    char
        *messages[2]; /* logs and metrics that are to be taken; NULL: there are none, or they are */
    size_t records;   /* in the batch */
    int64_t due_ms, saved_ms;
    unsigned failures; /* in turn */
    uint64_t taken, refused;
    char *problem;    /* why the last attempt failed; NULL: it did not */
    bool unwanted[2]; /* the collector has no place for logs, or for metrics */
    bool has_stopped; /* the collector wants none of it */
    bool has_moved;   /* something of a report is in the batch */
    bool is_saved;    /* the state says what was taken */
};

/* False after it has said what is wrong: with the URL, the state, or that there is no curl. */
bool sc_sender_begin(struct sc_sender *sender);

/* Does what can be done without waiting. */
void sc_sender_step(struct sc_sender *sender, struct sc_follow *follow, int64_t now_ms);

/* When the next step is due, or the number of a descriptor that is readable then (else -1). */
int64_t sc_sender_due_ms(const struct sc_sender *sender);
int sc_sender_descriptor(const struct sc_sender *sender);

/* Is there nothing that could still be sent? */
bool sc_sender_is_done(const struct sc_sender *sender, const struct sc_follow *follow);

/* Has all of a file been taken that can be? And was it removed before, while no descriptor could be
 * kept for it? */
bool sc_sender_has_all_of(const struct sc_sender *sender, const struct sc_followed *file);
bool sc_sender_has_lost_of(const struct sc_sender *sender, const struct sc_followed *file);

/* The sender's state in words: "120 sent to http://...; not taken: PROBLEM; again in 8 s". */
const char *sc_sender_words(const struct sc_sender *sender, struct sc_scratch *scratch,
                            int64_t now_ms);

/* Ends a POST that is under way, saves the state, and says on stderr what was not sent. False:
 * something was not, or was refused. */
bool sc_sender_end(struct sc_sender *sender, struct sc_follow *follow);

void sc_sender_free(struct sc_sender *sender);

#endif
