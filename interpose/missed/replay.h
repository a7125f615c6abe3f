/* Calls that passed every wrapper by are followed through CUPTI's callbacks.
 *
 * When the driver has returned, the wrapper is run for what it notes. Its real function is replaced
 * by one that answers what the driver has answered.
 *
 * - The wrapper of a copy, memset or launch is also run before the call. It puts the operation
 *   behind what the operation would race with. Nothing else is healed that would have had to come
 *   before the call.
 * - Frees and destructions are noted before the call only, which waits for what is in flight.
 * - The point of a synchronise is taken after the call. So an operation that another thread has
 *   issued on the stream meanwhile may be taken for known done.
 *
 * Called inside of the driver, on the thread that called it. Locks: none of the library's may be
 * held; those of the wrapper are taken. Not for a signal handler. errno may change.
 */
#ifndef SC_INTERPOSE_MISSED_REPLAY_H
#define SC_INTERPOSE_MISSED_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_missed_call;

/* Replays the call. `entering`: the driver has not carried it out yet. */
void sc_replay(const struct sc_missed_call *call, bool entering);

/* The callback ids of all calls that can be replayed. */
const uint16_t *sc_replay_ids(size_t *count);

#endif
