/* Calls that passed every wrapper by are followed through CUPTI's callbacks.
 *
 * When the driver has returned, the wrapper is run for what it notes: its real function is replaced
 * by one that answers what the driver has answered. Of what would have had to come before the call
 * one thing is healed: the wrapper of a copy, memset or launch is run before it as well, and puts
 * it behind what it would race with. Frees and destructions are noted before the call instead,
 * which waits for what is in flight. The points of synchronises are taken after them, so that an
 * operation that another thread has issued on the stream meanwhile may be taken for known done.
 */
#ifndef SC_INTERPOSE_MISSED_REPLAY_H
#define SC_INTERPOSE_MISSED_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_missed_call;

void sc_replay(const struct sc_missed_call *call, bool entering);

/* The callback ids of all calls that can be followed. */
const uint16_t *sc_replay_ids(size_t *count);

#endif
