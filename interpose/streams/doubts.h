/* Host functions that may wait for the program by polling, where nobody waits for them.
 *
 * In mode=report a touch of what is behind a host function is not held up. So nothing shows whether
 * the function would have gone on without it: the function may be a gate that polls, or one that
 * was open already when it began. Until a gate is open the program may touch what is behind it. So
 * such a touch counts only where each of these functions is seen to go on while the thread that had
 * touched could not open a gate any more: while it waits for the very operation, or has ended. A
 * function that polls would have ended then. And a function that returns before the call that
 * touches has let nobody touch first.
 *
 * Locks: a leaf's own.
 */
#ifndef SC_INTERPOSE_STREAMS_DOUBTS_H
#define SC_INTERPOSE_STREAMS_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_op_info;
struct sc_point;
struct sc_ticket;

/* The calling thread touches what the operation uses, or a call of the thread's does so. `op` is
 * what host functions are asked about (sc_host_functions_stream_now). The returned name of the
 * doubt is given back once; 0: there is no room. Signal safe. */
unsigned sc_doubts_begin(const struct sc_op_info *op, const struct sc_ticket *ticket);
void sc_doubts_end(unsigned doubt);

/* The doubts that the calling thread has raised since sc_doubts_raised() gave `before` are of the
 * call that it is about to make, which ends by sc_doubts_wait_ends(). A load where there is none.
 */
uint64_t sc_doubts_raised(void);
void sc_doubts_call_begins(uint64_t before);

/* On the thread of a host function, when it has returned and the stream has not gone on; `call` as
 * sc_host_functions_launched gave it. `is_plain`: it is known by now that it waits for nobody. A
 * load where there is no doubt. */
void sc_doubts_function_returned(unsigned call, bool is_plain);

/* Every millisecond or so until the functions have returned. Some system calls. */
void sc_doubts_look(unsigned doubt);

/* May one of the functions have waited for the thread, by all that is known? */
bool sc_doubts_remain(unsigned doubt);

/* Around a call in which the calling thread waits for what is in the point. A load where there is
 * no doubt. */
void sc_doubts_wait_begins(const struct sc_point *point);
void sc_doubts_wait_ends(void);

#endif
