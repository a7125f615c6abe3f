/* Tells hooks and wrappers whether the tracker has anything of a kind at all, so that most calls
 * need not look further. Lock-free, and safe in a signal handler. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_TRACK_TRACK_PRESENCE_H
#define SC_TRACK_TRACK_PRESENCE_H

#include <stdbool.h>

#include "common/checks.h"

struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* Kinds of things for sc_track_has_any. */
enum sc_presence {
    SC_HAS_RANGES,
    SC_HAS_MANAGED_RANGES,
    SC_HAS_OPERATIONS, /* on host memory */
    SC_HAS_HOLDS,
};
/* Returns false only if the tracker has nothing of this kind. */
bool sc_track_has_any(struct sc_track *track, enum sc_presence what);

#endif
