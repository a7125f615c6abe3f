/* Replays missed calls: runs the wrapper of a driver call that passed every wrapper by, from
 * CUPTI's callbacks.
 *
 * The wrapper is run for what it records when the driver has returned. In place of the driver's
 * function it calls one that returns the driver's result.
 *
 * - The wrapper of a copy, memset or launch is also run before the call. It orders the operation
 *   after those that it would race with. Nothing else is healed for which something would have to
 *   be done before the call.
 * - Frees and destructions are recorded before the call only; the call then waits for what is in
 *   flight.
 * - The point up to which a synchronise waits is taken after the call. So an operation that another
 *   thread has issued on the stream meanwhile may be taken for known done.
 *
 * Called from within the driver, on the thread that called it. Locks: none of the library's may be
 * held; those of the wrapper are taken. Not for a signal handler. errno may change. */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   known done: waited for by the program, itself or by something behind it
 *   miss: a driver call that came through no wrapper
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_MISSED_REPLAY_H
#define SC_INTERPOSE_MISSED_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_missed_call;

/* Runs the wrapper of a call that came through none, for what the wrapper notes, if that kind of
 * call is replayed at this end: at its beginning (`entering`), at its end, or at both
 * (driver/api.def). */
void sc_replay(const struct sc_missed_call *call, bool entering);

/* Returns the callback ids of all calls that can be replayed. */
const uint16_t *sc_replay_ids(size_t *count);

#endif
