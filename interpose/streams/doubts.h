/* In mode=report: finds out, after a touch of memory behind a host function, whether that function
 * waited for the toucher's thread. If it may have, the touch is not reported.
 *
 * In mode=report such a touch is not held up. So nothing shows at once whether the function would
 * have gone on without the touch's thread. The function may be a gate that polls, or may have found
 * its gate open. Until a gate is open the program may touch what is behind it. So a touch counts
 * only if each of these functions is seen to go on while the thread that has touched could open no
 * gate any more: while it waits for the very operation, or has ended. A function that polls would
 * not go on then. And a function that returns before the call that touches has not waited for what
 * the thread does after that call.
 *
 * Locks: a leaf's own. */
#ifndef SC_INTERPOSE_STREAMS_DOUBTS_H
#define SC_INTERPOSE_STREAMS_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_op_info;
struct sc_point;
struct sc_ticket;

/* Raises a doubt: the calling thread touches what the operation `ticket` uses, or a call of the
 * thread's does so. `op`: the same operation, as sc_host_functions_stream_now takes it. Returns the
 * doubt's id, which sc_doubts_end takes once; 0: there is no room. Signal-safe. */
unsigned sc_doubts_begin(const struct sc_op_info *op, const struct sc_ticket *ticket);
void sc_doubts_end(unsigned doubt);

/* Tie doubts to the call that the thread is about to make: those that it has raised since
 * sc_doubts_raised() returned `before`. The call ends by sc_doubts_wait_ends(). One load if there
 * is no such doubt. */
uint64_t sc_doubts_raised(void);
void sc_doubts_call_begins(uint64_t before);

/* Called on the thread of a host function that has returned, before the stream goes on. `call`: as
 * sc_host_functions_launched gave it. `is_plain`: the function is known by now to wait for nobody.
 * Costs one load if there is no doubt. */
void sc_doubts_function_returned(unsigned call, bool is_plain);

/* Looks what the functions do; called about every millisecond until they have returned. Some system
 * calls. */
void sc_doubts_look(unsigned doubt);

/* May one of the doubt's functions have waited for the thread, as far as is known? */
bool sc_doubts_remain(unsigned doubt);

/* Around a call in which the calling thread waits for what the point covers. A load where there is
 * no doubt. */
void sc_doubts_wait_begins(const struct sc_point *point);
void sc_doubts_wait_ends(void);

#endif
