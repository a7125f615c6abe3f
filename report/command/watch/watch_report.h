/* A followed report: what has been shown of it, and what has been sent. */
#ifndef SC_REPORT_COMMAND_WATCH_WATCH_REPORT_H
#define SC_REPORT_COMMAND_WATCH_WATCH_REPORT_H

#include "report/command/watch/follow.h"
#include "report/command/watch/watched.h"

struct sc_watch_report {
    struct sc_follow_cursor shown_to;
    struct sc_watched shown;
    json_t *hazard;        /* the last line of one since the title was made; NULL: none */
    uint64_t hazard_order; /* of the newest among those of all reports; 0: none */
    bool has_begun, was_told_dead, was_told_gone;
    bool is_dead; /* its process is no more, and has not ended normally */

    struct sc_follow_cursor sent_to; /* what was made into messages */
    uint64_t taken_to;               /* what the collector has taken */
    struct sc_watched sent;
    bool is_begin_known; /* of the file, by which the state knows it */
    struct sc_digest begin;
    bool told_dead; /* to the collector */
};

#endif
