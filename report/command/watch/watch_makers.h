/* What is needed to show lines of all followed reports: symbols, rules for frames, and caches. */
#ifndef SC_REPORT_COMMAND_WATCH_WATCH_MAKERS_H
#define SC_REPORT_COMMAND_WATCH_WATCH_MAKERS_H

#include "report/command/builds.h"
#include "report/command/frames_shown.h"
#include "report/command/pieces.h"
#include "report/command/scratch.h"

#include <stdbool.h>

struct sc_watch_makers {
    struct sc_frame_makers frames;
    struct sc_frame_cache cache;
    struct sc_builds_list builds;
    struct sc_pieces pieces;   /* of hazards */
    struct sc_scratch scratch; /* freed by sc_watch_makers_forget */
};

/* sc_watch_makers_begin prepares all of it. It returns false if there is no memory, or a rule for
 * frames is wrong; sc_watch_makers_free must be called in either case. sc_watch_makers_forget frees
 * the scratch. */
bool sc_watch_makers_begin(struct sc_watch_makers *makers);
void sc_watch_makers_forget(struct sc_watch_makers *makers);
void sc_watch_makers_free(struct sc_watch_makers *makers);

#endif
