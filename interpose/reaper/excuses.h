/* Decides whether a touch that came too early, or an operation without an order with an earlier
 * one, is excused: a host function that either is behind may have waited for the program.
 *
 * A verdict on such a hazard is kept back until these functions have returned. By then one of them
 * may have been found to wait for the program (interpose/streams/host_functions.h). A function can
 * have put one of two operations before the other only if the host knew that one to be done when
 * the function returned. That cannot be asked of a touch by the program, or by a call without an
 * operation of its own. In mode=report, where nobody waits for it, such a touch is in doubt
 * (interpose/streams/doubts.h).
 *
 * A kernel with an address of host memory may wait for the program to write there. With
 * kernels=order the write waits for the kernel, and so does the verdict: the write is excused if
 * the kernel does not go on without it.
 *
 * Locks: a leaf's own. Thread safe. */
#ifndef SC_INTERPOSE_REAPER_EXCUSES_H
#define SC_INTERPOSE_REAPER_EXCUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"

enum sc_no_verdict_reason;
struct sc_op_info;

/* The operation or call that came second, or is about to be made. */
struct sc_later {
    struct sc_ticket ticket; /* number 0: a call that waits itself; stream 0: the host */
    uint64_t ticks;          /* sc_ticks() of it; 0: now. Work launched by then may be before it */
};

/* What may excuse one hazard. */
struct sc_excuse {
    uint64_t issued_ticks; /* of the first operation; 0: nothing excuses the hazard */
    uint64_t touched_ticks;
    uint64_t since_ns;
    uint32_t first_op_stream, later_op_stream; /* of the two (sc_host_functions_stream_now) */
    bool has_later;                            /* the second is work in a stream */
    bool is_made;                              /* the order was made, or may have been, at first */
    struct sc_ticket kernel; /* the kernel for whose end the touch waits; stream 0: none */
    bool is_doubted;         /* the touch is in doubt, and `doubt` is its name there */
    unsigned doubt;
    unsigned order;   /* its entry in the table of orders, + 1; 0: none */
    bool has_no_room; /* that table was full */
};

/* Begin to find out whether host functions excuse a touch by the calling thread just now, a touch
 * at an unknown time, or a missing order. Each excuse is ended once (sc_excuses_end). Signal
 * safe. */
void sc_excuses_of_touch(struct sc_excuse *excuse, const struct sc_op_info *op);
void sc_excuses_of_past_touch(struct sc_excuse *excuse, const struct sc_op_info *op);
void sc_excuses_of_order(struct sc_excuse *excuse, const struct sc_op_info *op,
                         const struct sc_later *later);
void sc_excuses_end(struct sc_excuse *excuse);

/* May it still turn out that the hazard is excused? */
bool sc_excuses_are_awaited(const struct sc_excuse *excuse);

/* To be called every millisecond or so while an excuse is awaited. */
void sc_excuses_poll(const struct sc_excuse *excuse);

/* Is the hazard excused by now? */
bool sc_excuses_hold(const struct sc_excuse *excuse);

/* The last answer, when no excuse is awaited any more, or there is no more time. */
bool sc_excuses_hold_at_last(const struct sc_excuse *excuse);

/* The reason under which an excused hazard is counted as not judged, since it is not known whether
 * the program was right. */
enum sc_no_verdict_reason sc_excuses_reason(const struct sc_excuse *excuse);

/* Notes that the kernel is taken to wait for the program: nothing has moved on its stream for
 * SC_EXCUSES_STUCK_NS, though a touch has waited. */
enum { SC_EXCUSES_STUCK_NS = 250 * 1000 * 1000 };
void sc_excuses_kernel_waits(const struct sc_ticket *kernel);

/* Has the kernel been found to wait for the program? Then the program may write what the kernel may
 * read. One load if no kernel ever was. */
bool sc_excuses_kernel_is_waiting(const struct sc_ticket *kernel);

/* Has the stream stood still for SC_EXCUSES_STUCK_NS, by repeated calls with the same `stand`?
 * `stand` is zero at first. */
struct sc_excuses_stand {
    uint64_t complete, since_ns;
};
bool sc_excuses_kernel_is_stuck(struct sc_excuses_stand *stand, uint32_t stream);

/* Called on the thread of a host function when it has returned, before the stream goes on. `call`
 * is its number. A load if no order is to be judged. */
void sc_excuses_function_returned(unsigned call);

#endif
