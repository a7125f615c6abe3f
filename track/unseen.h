/* Unseen waits: a stream waits for the host by a value, a semaphore or a host node, and no call
 * tells when the wait ends.
 *
 * Until the wait is over, the host may still touch what stands behind it, and may order it with
 * other work. So nothing behind it is judged or guarded. A wait is over for good when the host has
 * waited for work behind it, on whatever stream. A wait has two tickets: `from`, taken before the
 * call that begins the wait, and `until`, taken behind it. Work comes after the wait if it comes
 * after `from`, and not only after what the host knows to be done. The wait is over when the host
 * knows `until` to be done.
 *
 * An operation keeps a mark of the waits that it comes after, and is unseen as long as one of them
 * is open. If a stream has many open waits, the latest ones count as one.
 *
 * Locks: every function needs the owner's lock. */
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
    SC_UNSEEN_OF_STREAM_MAX = 8,  /* open waits of a stream that are told apart */
    SC_UNSEEN_LOOKED_AT_MAX = 256 /* with more open waits, every operation counts as unseen */
};

void sc_unseen_init(struct sc_order *order);

/* Note a call by which the stream begins to wait for the host: before the call, and after it with
 * the ticket that begin returned. End is not called if the driver refused the call. */
struct sc_ticket sc_unseen_begin(struct sc_order *order, uint32_t stream);
void sc_unseen_end(struct sc_order *order, const struct sc_ticket *from);

/* The open waits that work issued on the stream now would come after. `after`: what the work comes
 * after besides its stream; NULL: nothing. */
struct sc_unseen_mark sc_unseen_find_before(struct sc_order *order, uint32_t stream,
                                            const struct sc_point *after);

/* Is a wait of the mark still open? */
bool sc_unseen_is_open(struct sc_order *order, const struct sc_unseen_mark *mark);

/* Forgets waits that the host knows to be over. Returns whether there were any. */
bool sc_unseen_forget_known(struct sc_order *order);

#endif
