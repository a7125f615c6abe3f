/* Replay: a call that passed every wrapper by is followed through CUPTI's callbacks.
 *
 * When the driver has returned, the call's wrapper is run for what it notes. The wrapper's real
 * function is replaced by one that returns the driver's answer.
 *
 * - The wrapper of a copy, memset or launch is also run before the call. It puts the operation
 *   behind what the operation would race with. Nothing else is healed that would have had to
 *   come before the call.
 * - Frees and destructions are noted before the call only, which waits for what is in flight.
 * - The point of a synchronise is taken after the call. So an operation that another thread has
 *   issued on the stream meanwhile may be taken for known done.
 *
 * Called from within the driver, on the thread that called it. Locks: none of the library's may be
 * held; those of the wrapper are taken. Not for a signal handler. errno may change.
 */
#ifndef SC_INTERPOSE_MISSED_REPLAY_H
#define SC_INTERPOSE_MISSED_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_missed_call;

/* Replays the call, at its beginning (`entering`) or at its end. Calls are replayed at one end or
 * at both. */
void sc_replay(const struct sc_missed_call *call, bool entering);

/* Returns the callback ids of all calls that can be replayed. */
const uint16_t *sc_replay_ids(size_t *count);

#endif
