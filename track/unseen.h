/* Waits of unseen end ("unseen waits"): a stream waits for the host by a value, a semaphore or a
 * host node, and no call tells the library when the wait ends.
 *
 * Until such a wait is over, the host may still access the memory of work that comes after it, and
 * may order that work with other work. So nothing after it is judged or guarded. A wait is
 * certainly over when the host has waited for work after it, on whatever stream. A wait has two
 * tickets: `from`, taken before the call that begins the wait, and `until`, taken after it. Work
 * comes after the wait if it comes after `from` and `from` is not known done. The wait is over when
 * the host knows `until` to be done.
 *
 * An operation keeps a mark: the set of waits that it comes after. It counts as unseen as long as
 * one of them is open. If a stream has many open waits, the latest ones count as one.
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   known done: waited for by the program, itself or by something behind it
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_UNSEEN_H
#define SC_TRACK_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

struct sc_order;
struct sc_point;
struct sc_ticket;
struct sc_unseen_mark;

enum {
    SC_UNSEEN_BITS = 64,
    SC_UNSEEN_OF_STREAM_MAX = 8,  /* open waits of a stream that get bits of their own */
    SC_UNSEEN_LOOKED_AT_MAX = 256 /* with more open waits, every operation counts as unseen */
};

void sc_unseen_init(struct sc_order *order);

/* Note a call by which the stream begins to wait for the host. Begin is called before the driver's
 * call; end after it, with the ticket that begin has returned, unless the driver has refused the
 * call. */
struct sc_ticket sc_unseen_begin(struct sc_order *order, uint32_t stream);
void sc_unseen_end(struct sc_order *order, const struct sc_ticket *from);

/* Returns the mark of work that is issued on the stream now: the open waits for the host, whose end
 * no call tells, that it comes after. `after`: what the work comes after besides its stream; NULL:
 * nothing. */
struct sc_unseen_mark sc_unseen_find_before(struct sc_order *order, uint32_t stream,
                                            const struct sc_point *after);

/* Returns true if at least one wait of the mark (a wait for the host whose end no call tells) is
 * still open, so that the order of work with the mark is unknown. */
bool sc_unseen_is_open(struct sc_order *order, const struct sc_unseen_mark *mark);

/* Removes waits of unseen end that the host knows to be over, since it has waited for work after
 * them. Returns whether there were any. */
bool sc_unseen_forget_known(struct sc_order *order);

#endif
