/* What calls of the driver do to the order of streams (track/order.h), for those who know nothing
 * of its records.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_ORDER_CALLS_H
#define SC_TRACK_ORDER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_order;
struct sc_order_call;
struct sc_point;
struct sc_stream_front;
struct sc_ticket;

/* It stays where it is for as long as the process lives. */
const struct sc_stream_front *sc_order_front(struct sc_order *order, uint32_t stream);

/* A call that begins and ends at once, without an operation. */
void sc_order_work(struct sc_order *order, uint32_t stream);

/* Which call has made it (track/origins.h). */
void sc_order_set_origin(struct sc_order *order, uint32_t stream, uint32_t origin);

/* Begins a call that waits for all that it comes after. Returns that as a point. */
struct sc_point sc_order_begin_to_wait(struct sc_order *order, uint32_t stream,
                                       struct sc_order_call *call);

/* The call is work that may tell the host, in a way that is not seen, of the end of what the call
 * comes after. It has a number of its own, so that marks which are recorded behind it stand for
 * more than the host may have heard of. */
void sc_order_call_signals(struct sc_order *order, uint32_t stream,
                           const struct sc_order_call *call);

/* A wait for the primary context waits for the green one as well, and not the other way round. */
void sc_order_set_primary(struct sc_order *order, uint32_t green, uint32_t primary);

/* What an event of the context stands for: its point, and what its streams are to wait for. */
struct sc_point sc_order_context_record(struct sc_order *order, uint32_t context);
/* Ends a point. */
void sc_order_release(struct sc_order *order, struct sc_point *point);
/* Work issued on `stream` from now on comes after the operation (an edge that we inserted). */
void sc_order_wait_for(struct sc_order *order, uint32_t stream, const struct sc_ticket *ticket);
/* All streams of the context and of its green contexts, also streams to come, come after
 * the point. A
 * synchronise of such a stream does not wait for the point until work has been issued there; the
 * record of an event is no work. A synchronise of the context waits for the point (docs/driver.md,
 * Green contexts). */
void sc_order_wait_context(struct sc_order *order, uint32_t context, const struct sc_point *point);

/* The stream takes a number for what is no operation. */
void sc_order_pass(struct sc_order *order, uint32_t stream);

/* Lock-free: is the operation in a point that the host may have learnt of? */
bool sc_order_signalled(struct sc_order *order, const struct sc_ticket *ticket);

/* How many operations of its stream the first signal behind the operation covers surely; 0 where
 * that cannot be told. */
uint64_t sc_order_first_signal(struct sc_order *order, const struct sc_ticket *ticket);

/* Does the point stand for the operation? */
bool sc_order_point_covers(const struct sc_point *point, const struct sc_ticket *ticket);

#endif
