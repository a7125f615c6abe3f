/* Operations with a verdict that was found before a call, and that is reported when the call's
 * result is known (hazards.h): after the call the device may have completed them. Plain data. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   verdict: observed, latent, correct, or none
 */

#ifndef SC_INTERPOSE_REAPER_DECIDED_H
#define SC_INTERPOSE_REAPER_DECIDED_H

#include <stdbool.h>

#include "common/hazard_words.h"
#include "track/ops.h"

/* Operations in flight that a call may hurt, and for each whether it is a hazard, as found before
 * the call is made. */
struct sc_decided {
    struct sc_ops ops;
    bool counts[SC_TRACK_OPS_MAX]; /* for each operation: is it a hazard that counts? */
    enum sc_certainty certainty[SC_TRACK_OPS_MAX];
};

#endif
