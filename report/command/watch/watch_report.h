/* A followed report: how much of it was shown, and how much was sent. */
#ifndef SC_REPORT_COMMAND_WATCH_WATCH_REPORT_H
#define SC_REPORT_COMMAND_WATCH_WATCH_REPORT_H

#include "report/command/watch/follow.h"
#include "report/command/watch/watched.h"

struct sc_watch_report {
    struct sc_follow_cursor shown_to;
    struct sc_watched shown;
    json_t *hazard; /* the last hazard line since the title was made; NULL: none */
    /* the position of its newest hazard among those of all reports; 0: it has none */
    uint64_t hazard_order;
    bool has_begun, was_told_dead, was_told_gone;
    bool is_dead; /* its process has ended, and not normally */

    struct sc_follow_cursor sent_to; /* how much was made into messages */
    uint64_t taken_to;               /* how much the collector has accepted */
    struct sc_watched sent;
    /* `begin` is set: the digest of the first line, by which the state file names the report */
    bool is_begin_known;
    struct sc_digest begin;
    bool told_dead; /* the collector was sent that the process died */
};

#endif
