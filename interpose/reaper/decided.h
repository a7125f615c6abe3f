/* Operations whose hazards have a verdict before it is known what becomes of a call, for
 * sc_hazards_decide (hazards.h): plain data. */
#ifndef SC_INTERPOSE_REAPER_DECIDED_H
#define SC_INTERPOSE_REAPER_DECIDED_H

#include <stdbool.h>

#include "common/hazard_words.h"
#include "track/ops.h"

struct sc_decided {
    struct sc_ops ops;
    bool counts[SC_TRACK_OPS_MAX]; /* of each operation: is it a hazard that counts? */
    enum sc_certainty certainty[SC_TRACK_OPS_MAX];
};

#endif
