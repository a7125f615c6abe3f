/* What calls of the driver do to the order of streams (track/order.h): the functions for wrappers,
 * which do not see its records.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free". */
#ifndef SC_TRACK_ORDER_CALLS_H
#define SC_TRACK_ORDER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_order;
struct sc_order_call;
struct sc_point;
struct sc_stream_front;
struct sc_ticket;

/* The part of the stream's record that every call looks at (track/stream_front.h). It never moves,
 * and lives as long as the process. */
const struct sc_stream_front *sc_order_front(struct sc_order *order, uint32_t stream);

/* Notes a call on the stream that begins and ends at once, and has no operation. */
void sc_order_note_work(struct sc_order *order, uint32_t stream);

/* Notes which call made the stream (track/origins.h). */
void sc_order_set_origin(struct sc_order *order, uint32_t stream, uint32_t origin);

/* Begins a call that waits for the work before it. Returns what it comes after, as a point. */
struct sc_point sc_order_begin_to_wait(struct sc_order *order, uint32_t stream,
                                       struct sc_order_call *call);

/* Notes that the call may tell the host, unseen, that all it comes after is done. The call takes a
 * number of its own, so that marks recorded behind it stand for more than the host may have heard
 * of. `is_past`: the driver has carried the call out. */
void sc_order_note_call_signal(struct sc_order *order, uint32_t stream,
                               const struct sc_order_call *call, bool is_past);

/* Makes `green` a green context of `primary` (ids of their legacy streams). A wait for the primary
 * context waits for its green ones as well, and not the other way round. */
void sc_order_set_primary(struct sc_order *order, uint32_t green, uint32_t primary);

/* What an event that is recorded for the whole context stands for: the context's point, and what is
 * due to its streams. */
struct sc_point sc_order_context_record(struct sc_order *order, uint32_t context);
/* Gives the point's references back and empties it. */
void sc_order_release_point(struct sc_order *order, struct sc_point *point);
/* Notes an edge that the library has inserted: work issued on `stream` from now on comes after the
 * operation. */
void sc_order_note_edge(struct sc_order *order, uint32_t stream, const struct sc_ticket *ticket);
/* Notes that all streams of the context and of its green contexts, also future ones, come after the
 * point. The point is due to them: a synchronise of such a stream waits for it only after work was
 * issued there, and the record of an event is no work. A synchronise of the context always waits
 * for the point (docs/driver.md, Green contexts). */
void sc_order_note_context_wait(struct sc_order *order, uint32_t context,
                                const struct sc_point *point);

/* Has the stream skip a number that no operation gets, so that what is recorded later has a larger
 * number than all before. */
void sc_order_skip_number(struct sc_order *order, uint32_t stream);

/* Lock-free: may the host have learnt by a signal that the operation is done? */
bool sc_order_may_be_signalled(struct sc_order *order, const struct sc_ticket *ticket);

/* How far marks surely stand before the first signal behind the operation: the number up to which
 * operations of its stream have such marks; 0: its own mark may stand behind the signal. */
uint64_t sc_order_first_signal(struct sc_order *order, const struct sc_ticket *ticket);

/* Is the operation done when everything in the point is done? */
bool sc_order_point_covers(const struct sc_point *point, const struct sc_ticket *ticket);

#endif
