/* A hazard as it is shown, the same for every format (model.h). */
#ifndef SC_REPORT_COMMAND_SHOWN_H
#define SC_REPORT_COMMAND_SHOWN_H

#include "common/hazard_words.h"
#include "report/command/frames_shown.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One of the calls that a hazard names: the copy, the event, the free before it, or the call that
 * made the buffer or the stream. */
struct sc_call {
    const char *api;                 /* "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)" */
    const char *called, *driver_api; /* the function before the parentheses, and the one in them */
    const char *words;               /* the call, its thread, its memory or stream */
    json_int_t thread, time_ns;
    const char *thread_words; /* "7417", or "7417 loader" where the thread has a name */
    struct sc_frames stack;
};

struct sc_shown {
    json_t *record;
    const char *code, *name, *certainty, *action;
    const char *title;   /* "SC101 source-freed-in-flight: free at a.c:3 in f, ..." */
    const char *count;   /* "at least 2 times in 3 runs" */
    const char *outcome; /* "healed: the call waited for the copy" */
    const char *advice;
    const char *timing;      /* what the copy did on the device; NULL: not known */
    const char *label;       /* NULL: none */
    const char *suppression; /* why the hazard is suppressed; NULL: it is not */
    /* "new" or "unchanged" since the baseline; NULL without a baseline, and for a suppressed hazard
     */
    const char *news;
    /* for an unchanged hazard: "at 2 places here and 1 in the baseline, so one may be new"; NULL:
     * the count has not grown, or that is not known */
    const char *grown;
    enum sc_hazard_subject subject;
    json_int_t occurrences;
    size_t run; /* the index of the run from which it is shown, one of those that had the hazard */
    /* for SC201: the event did not change the source, but the change was found there */
    bool is_found_later;
    bool is_timed;
    json_int_t start_ns, end_ns; /* of the copy on the device, if timed */
    const char *stream, *direction;
    struct sc_call copy, event, freed; /* freed.api NULL: none */
    /* of two nodes of a graph that race: what they do, and which call added them; NULL: none */
    const char *nodes[2];
    /* the calls that made the buffer, and the copy's stream, as far as known; without thread and
     * time */
    struct sc_call origins[2];
    size_t origin_count;
};

#endif
