/* What may excuse a touch, or an operation that nothing seems to order with an earlier one: the
 * host functions that either is behind.
 *
 * A verdict on such a hazard is kept back until these functions have returned. By then one may have
 * been found to wait for the program (interpose/streams/host_functions.h). The function can have
 * put one of two operations before the other only if the host knew the one to be done when the
 * function returned. No such thing is known for a touch by the program, or by a call without an
 * operation of its own. In mode=report, where nobody waits for it, the touch is in doubt
 * (interpose/streams/doubts.h).
 *
 * A kernel with an address of host memory may wait for the program to write there. With
 * kernels=order the write waits for the kernel, and the verdict with it: that a kernel had not gone
 * on without the write excuses it.
 *
 * Locks: a leaf's own. Thread safe.
 */
#ifndef SC_INTERPOSE_REAPER_EXCUSES_H
#define SC_INTERPOSE_REAPER_EXCUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"

enum sc_no_verdict_reason;
struct sc_op_info;

/* What came second, or is about to. */
struct sc_later {
    struct sc_ticket
        ticket;     /* the number is 0 where the call waits for it; on stream 0: the host's */
    uint64_t ticks; /* sc_ticks(); what was launched by then may be before it. 0: now */
};

struct sc_excuse {
    uint64_t issued_ticks; /* of the first operation; 0: nothing excuses the hazard */
    uint64_t touched_ticks;
    uint64_t since_ns;
    uint32_t behind_stream, later_stream; /* of both (sc_host_functions_stream_now) */
    bool has_later;                       /* the second one is in a stream */
    bool is_made;                         /* the order is, or may be */
    struct sc_ticket kernel; /* for whose end the touch waits; on stream 0: for no kernel's */
    bool is_doubted;         /* the touch is, by that name */
    unsigned doubt;
    unsigned order;   /* place in the table of orders; 0: none */
    bool has_no_room; /* in that table, where it should have one */
};

/* What may excuse a touch by the calling thread, just now or at an unknown time, and what may
 * excuse an order. The excuse is ended once. Signal safe. */
void sc_excuses_of_touch(struct sc_excuse *excuse, const struct sc_op_info *op);
void sc_excuses_of_past_touch(struct sc_excuse *excuse, const struct sc_op_info *op);
void sc_excuses_of_order(struct sc_excuse *excuse, const struct sc_op_info *op,
                         const struct sc_later *later);
void sc_excuses_end(struct sc_excuse *excuse);

/* May there come an excuse? */
bool sc_excuses_are_awaited(const struct sc_excuse *excuse);

/* Every millisecond or so meanwhile. */
void sc_excuses_look(const struct sc_excuse *excuse);

/* Is there one by now? */
bool sc_excuses_hold(const struct sc_excuse *excuse);

/* The same when none is awaited, or there is no more time. */
bool sc_excuses_hold_at_last(const struct sc_excuse *excuse);

/* What an excuse that holds is: whether the program was right is not known. */
enum sc_no_verdict_reason sc_excuses_reason(const struct sc_excuse *excuse);

/* Nothing has moved on the kernel's stream for SC_EXCUSES_STUCK_NS, though a touch has waited: the
 * kernel is taken to wait for that. */
enum { SC_EXCUSES_STUCK_NS = 250 * 1000 * 1000 };
void sc_excuses_kernel_waits(const struct sc_ticket *kernel);

/* Is it taken to wait already? Nothing it may read is held against it any more. A load where none
 * ever was. */
bool sc_excuses_kernel_is_waiting(const struct sc_ticket *kernel);

/* Has it been for so long? False where the stream moves. Zeroes at first. */
struct sc_excuses_stand {
    uint64_t complete, since_ns;
};
bool sc_excuses_kernel_is_stuck(struct sc_excuses_stand *stand, uint32_t stream);

/* On the thread of a host function, when it has returned and the stream has not gone on. A load
 * where no order is to be judged. */
void sc_excuses_function_returned(unsigned call);

#endif
