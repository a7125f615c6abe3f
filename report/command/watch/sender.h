/* Sends hazards as logs, and counts and memory as metrics, to a collector of OpenTelemetry, as they
 * happen.
 *
 * The reports serve as the queue. A batch is made of what comes after the last one that the
 * collector has accepted, and is kept until it is accepted, too; only then the next one is made. So
 * nothing is lost while the collector is down, and only one batch is in memory. What can be lost is
 * what a removed report still had if no descriptor was kept for it, and what the collector rejects.
 */
#ifndef SC_REPORT_COMMAND_WATCH_SENDER_H
#define SC_REPORT_COMMAND_WATCH_SENDER_H

#include "report/command/watch/follow.h"
#include "report/command/watch/post.h"
#include "report/command/watch/watched.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The sender. At first all is zero, except what the flags say. */
struct sc_sender {
    const char *url; /* NULL: nothing is sent */
    /* the file of --state, which says how much of each report was accepted; NULL: none */
    const char *state;
    struct sc_watch_makers *makers;
    char *curl;
    /* for each report, identified by its first line: how much was accepted in earlier runs */
    json_t *known;
    struct sc_post post;
    /* the logs and the metrics of the batch; NULL: there are none, or they were accepted */
    char *messages[2];
    size_t records; /* how many records the batch has */
    int64_t due_ms, saved_ms;
    unsigned failures; /* how many attempts have failed in succession */
    uint64_t taken, refused;
    char *problem;    /* why the last attempt failed; NULL: it did not */
    bool unwanted[2]; /* the collector accepts no logs, or no metrics */
    bool has_stopped; /* the collector accepts nothing at all */
    bool has_moved;   /* the batch has lines that the state file does not yet count as accepted */
    bool is_saved;    /* the state file is up to date */
};

/* Prepares the sender. Returns false, after a message, if the URL or the state file is wrong, or
 * there is no curl. */
bool sc_sender_begin(struct sc_sender *sender);

/* Does all that can be done without waiting. */
void sc_sender_step(struct sc_sender *sender, struct sc_follow *follow, int64_t now_ms);

/* Return when the next step is due, and a descriptor that becomes readable then (else -1). */
int64_t sc_sender_due_ms(const struct sc_sender *sender);
int sc_sender_descriptor(const struct sc_sender *sender);

/* Returns true if there is nothing that could still be sent. */
bool sc_sender_is_done(const struct sc_sender *sender, const struct sc_follow *follow);

/* Return whether all that can be sent of a file was accepted; and whether the file was removed
 * before that, while no descriptor was kept for it. */
bool sc_sender_has_all_of(const struct sc_sender *sender, const struct sc_followed *file);
bool sc_sender_has_lost_of(const struct sc_sender *sender, const struct sc_followed *file);

/* Returns the sender's state in words: "120 sent to http://...; not taken: PROBLEM; again in 8 s".
 */
const char *sc_sender_words(const struct sc_sender *sender, struct sc_scratch *scratch,
                            int64_t now_ms);

/* Ends a request that is under way, saves the state, and writes to stderr what was not sent.
 * Returns false if something was not sent, or was rejected. */
bool sc_sender_end(struct sc_sender *sender, struct sc_follow *follow);

void sc_sender_free(struct sc_sender *sender);

#endif
