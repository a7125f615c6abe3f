/* Decides whether a hazard is excused because a host function, or a GPU kernel, may have waited for
 * the program. The hazard is a touch that came too early, or an operation that is not ordered with
 * an earlier one.
 *
 * The verdict on a hazard (whether it counts) is postponed until the host functions that either
 * operation runs after have returned. By then one of them may have been found to wait for the
 * program (interpose/streams/host_functions.h), which excuses a touch. Of two operations a function
 * can have ordered the first before the second only if the host knew the first to be done when the
 * function returned, so this is checked. It cannot be checked for a touch by the program, or for a
 * call without an operation of its own. In mode=report, where nothing waits for the function, such
 * a touch is in doubt (interpose/streams/doubts.h).
 *
 * A kernel with an address of host memory may wait for the program to write there. With
 * kernels=order the write waits for the kernel, and so does the verdict: the write is excused if
 * the kernel makes no progress without it.
 *
 * Locks: its own, a leaf. Thread-safe. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   verdict: observed, latent, correct, or none
 */

#ifndef SC_INTERPOSE_REAPER_EXCUSES_H
#define SC_INTERPOSE_REAPER_EXCUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"

enum sc_no_verdict_reason;
struct sc_op_info;

/* The second of two operations that are not ordered, or the call that is about to be made. */
struct sc_later {
    /* Its ticket. Number 0: it is a call that waits for the device itself; stream 0: it is the
     * host. */
    struct sc_ticket ticket;
    /* Its time (sc_ticks); 0: now. Work launched by then may be ordered before it. */
    uint64_t ticks;
};

/* What is known of whether one hazard is excused: whether a host function or a kernel that waited
 * for the program made it right. */
struct sc_excuse {
    uint64_t issued_ticks; /* when the first operation was issued; 0: nothing excuses the hazard */
    uint64_t touched_ticks;
    uint64_t since_ns;
    /* The streams of the two operations (sc_host_functions_stream_now). */
    uint32_t first_op_stream, later_op_stream;
    bool has_later; /* the second one is work in a stream */
    bool is_made;   /* the operations were ordered, or may have been, when they were issued */
    struct sc_ticket kernel; /* the GPU kernel for whose end the touch waits; stream 0: none */
    bool is_doubted;         /* the touch is in doubt; `doubt` identifies it there */
    unsigned doubt;
    unsigned order;   /* the index of its entry in the table of orders, plus 1; 0: none */
    bool has_no_room; /* that table was full */
};

/* Begin to find out whether a host function or kernel excuses a hazard. of_touch: a touch that the
 * calling thread makes now. of_past_touch: one at an unknown time. of_order: two operations that
 * are not ordered. Each excuse has to be ended once (sc_excuses_end). Signal-safe. */
void sc_excuses_of_touch(struct sc_excuse *excuse, const struct sc_op_info *op);
void sc_excuses_of_past_touch(struct sc_excuse *excuse, const struct sc_op_info *op);
void sc_excuses_of_order(struct sc_excuse *excuse, const struct sc_op_info *op,
                         const struct sc_later *later);
void sc_excuses_end(struct sc_excuse *excuse);

/* Returns true if the hazard may still turn out to be excused: the verdict has to wait, since a
 * host function has not returned or a kernel has not ended. */
bool sc_excuses_are_awaited(const struct sc_excuse *excuse);

/* Looks whether the function that may be polling for a touch goes on (mode=report). To be called
 * every millisecond or so while sc_excuses_are_awaited. */
void sc_excuses_poll(const struct sc_excuse *excuse);

/* Returns true if the hazard is excused by what is known now: a host function or GPU kernel has
 * waited for the program, or has made the order. */
bool sc_excuses_hold(const struct sc_excuse *excuse);

/* Returns the last word on whether the hazard is excused: whether a host function or kernel that
 * waited for the program may have put the two accesses in order. Called when sc_excuses_are_awaited
 * is false, or the verdict cannot wait longer. A host function that has not returned by then counts
 * in favour of the program, which may be right. */
bool sc_excuses_hold_at_last(const struct sc_excuse *excuse);

/* Returns the reason under which an excused hazard is counted as having no verdict: a function may
 * have waited for the program, and nobody knows whether it did. */
enum sc_no_verdict_reason sc_excuses_reason(const struct sc_excuse *excuse);

/* Records that the GPU kernel seems to wait for the program: its stream has made no progress for
 * SC_EXCUSES_STUCK_NS while a touch has waited. */
enum { SC_EXCUSES_STUCK_NS = 250 * 1000 * 1000 };
void sc_excuses_kernel_waits(const struct sc_ticket *kernel);

/* Returns true if the GPU kernel was found to wait for the program. Then the program may write what
 * the kernel may read. One load if no kernel ever was. */
bool sc_excuses_kernel_is_waiting(const struct sc_ticket *kernel);

/* Has the stream made no progress for SC_EXCUSES_STUCK_NS? Called repeatedly with the same `stand`
 * (how far the stream was when it last made progress), which is zero at first. */
struct sc_excuses_stand {
    uint64_t complete, since_ns;
};
bool sc_excuses_kernel_is_stuck(struct sc_excuses_stand *stand, uint32_t stream);

/* Called when the program's host function with this number has returned, on its thread, before the
 * stream goes on: nothing behind the function has run yet. Notes which undecided pairs of
 * operations it may have ordered. One load if there are none. */
void sc_excuses_function_returned(unsigned call);

#endif
