/* What calls of the driver do to the order of streams (track/order.h): functions for wrappers,
 * which do not see its records.
 *
 * Locks: every function needs the tracker's lock, except those that say "lock-free". */

/* Terms (docs/glossary.md):
 *   due: of a wait: a context was told to wait, and the stream has still to join it
 *   edge: an order between two pieces of work; the library adds one as a wait for an event
 *   join: to merge a point into what a stream, another point or the host has waited for
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   signal: a message of the device to the host that the library does not see. Not a Unix signal
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
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

/* Returns the part of the stream's record that every call looks at (track/stream_front.h). It never
 * moves, and lives as long as the process. */
const struct sc_stream_front *sc_order_front(struct sc_order *order, uint32_t stream);

/* Notes a call that is work on the stream, begins and ends at once, and has no operation: the
 * stream comes after what the call comes after. */
void sc_order_note_work(struct sc_order *order, uint32_t stream);

/* Notes which call made the stream (track/origins.h). */
void sc_order_set_origin(struct sc_order *order, uint32_t stream, uint32_t origin);

/* Begins a call that waits for the work before it. Returns the point of all that it comes after. */
struct sc_point sc_order_begin_to_wait(struct sc_order *order, uint32_t stream,
                                       struct sc_order_call *call);

/* Notes that the call may tell the host, in a way that the library does not see, that all it comes
 * after is done (a signal). The call takes a number, so that a mark which is recorded after it has
 * a larger number than all that the host may have learnt of. `is_past`: the driver has carried the
 * call out already. */
void sc_order_note_call_signal(struct sc_order *order, uint32_t stream,
                               const struct sc_order_call *call, bool is_past);

/* Makes `green` a green context of `primary` (ids of their legacy streams). A wait for the primary
 * context also waits for its green ones; a wait for a green one does not wait for the primary. */
void sc_order_set_primary(struct sc_order *order, uint32_t green, uint32_t primary);

/* Returns what an event stands for that is recorded for the whole context: the context's point, and
 * what its streams have still to join (are due to wait for). */
struct sc_point sc_order_context_record(struct sc_order *order, uint32_t context);
/* Releases the point's references and empties it. */
void sc_order_release_point(struct sc_order *order, struct sc_point *point);
/* Notes an edge that the library has inserted (a wait for an event): work issued on `stream` from
 * now on comes after the operation. */
void sc_order_note_edge(struct sc_order *order, uint32_t stream, const struct sc_ticket *ticket);
/* Notes that all streams of the context and of its green contexts, also future ones, come after the
 * point (a wait of the whole context for an event). The point is due to each stream: the stream
 * joins it with its next work. The record of an event is no work, so a synchronise of the stream
 * after a record alone does not wait for the point; a synchronise of the context always does
 * (docs/driver.md, Green contexts). */
void sc_order_note_context_wait(struct sc_order *order, uint32_t context,
                                const struct sc_point *point);

/* Skips a number of the stream, which no operation gets: so what is recorded later (a mark, an
 * event) has a larger number than all that was issued before. */
void sc_order_skip_number(struct sc_order *order, uint32_t stream);

/* Returns true if the host may have learnt by a signal (told by the device, unseen by the library)
 * that the operation is done. Lock-free. */
bool sc_order_may_be_signalled(struct sc_order *order, const struct sc_ticket *ticket);

/* Returns a number up to which each operation of the ticket's stream has its mark (a completion
 * event of the library's) recorded before the first signal that comes after the operation: such a
 * mark shows what was incomplete when the host was told. 0: the operation's own mark may be
 * recorded after the signal. */
uint64_t sc_order_first_signal(struct sc_order *order, const struct sc_ticket *ticket);

/* Returns true if the operation is done when everything in the point is done. */
bool sc_order_point_covers(const struct sc_point *point, const struct sc_ticket *ticket);

#endif
