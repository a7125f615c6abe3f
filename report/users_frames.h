/* Tells whether two hazards happened at the same place, by the frames of the user's own code on
 * both sides. Frames of libraries and of an interpreter do not count, since they may differ each
 * time.
 *
 * Thread-safe. No lock, no allocation. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_REPORT_USERS_FRAMES_H
#define SC_REPORT_USERS_FRAMES_H

#include <stdint.h>

struct sc_hazard;
struct sc_json_lines_stacks;

/* Returns a hash, never 0, of the hazard's code, of the device that has too little room, and of the
 * user's frames of the operation and of the event. A side without such frames counts by its whole
 * stack and its function. */
uint64_t sc_users_frames_hash(const struct sc_hazard *hazard,
                              const struct sc_json_lines_stacks *stacks);

#endif
