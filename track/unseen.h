/* Waits for the host that are not seen: a stream waits for a value or a semaphore, or for a host
 * node of which no call tells that it has run.
 *
 * Until such a wait is over, the host may touch what stands behind it, and may put it in order with
 * other work: nothing is judged there, nor guarded. A wait is over for good when the host has
 * waited for it, on whatever stream: a wait has two tickets, one from before the call that begins
 * the wait and one from behind it. Work comes after the wait if it comes after the first ticket,
 * and not only after what the host knows to be done. The host knows the end of the wait by the
 * second one.
 *
 * An operation keeps a mark of the waits that it comes after, and is unseen for as long as one of
 * them is open. The latest of many open waits of a stream count as one.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free".
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
    SC_UNSEEN_OF_STREAM_MAX = 8,  /* open waits of a stream that count as more than one */
    SC_UNSEEN_LOOKED_AT_MAX = 256 /* open waits: where there are more, nothing is seen */
};

void sc_unseen_init(struct sc_order *order);

/* Around the call by which the stream waits. End gets what begin has returned; it is left out where
 * the call was refused. */
struct sc_ticket sc_unseen_begin(struct sc_order *order, uint32_t stream);
void sc_unseen_end(struct sc_order *order, const struct sc_ticket *from);

/* What work that is issued on the stream now comes after. `after`: what it comes after besides, or
 * NULL. */
struct sc_unseen_mark sc_unseen_behind(struct sc_order *order, uint32_t stream,
                                       const struct sc_point *after);

/* Is one of them open? */
bool sc_unseen_is_open(struct sc_order *order, const struct sc_unseen_mark *mark);

/* Forgets waits that the host knows to be over. True: there were some. */
bool sc_unseen_forget_known(struct sc_order *order);

#endif
