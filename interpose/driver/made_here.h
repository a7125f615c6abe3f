/* The wrapped call that makes memory or a stream, as an origin (track/origins.h).
 *
 * Thread safe, not signal safe: a stack is taken. errno is kept. No lock of the library may be
 * held.
 */
#ifndef SC_INTERPOSE_DRIVER_MADE_HERE_H
#define SC_INTERPOSE_DRIVER_MADE_HERE_H

#include <stdint.h>

struct sc_call;

uint32_t sc_made_here(const struct sc_call *call);

#endif
