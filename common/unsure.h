/* Reasons, as bits, why it is not certain that an operation is ordered as the program's calls say.
 * track/ordering.h says what follows from them. Plain data. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_WORDS_UNSURE_H
#define SC_WORDS_UNSURE_H

/* Why it is not certain that an operation is ordered as the program's calls say; several may
 * hold. */
enum sc_unsure {
    SC_UNSURE_LEFT_OUT = 1 << 0, /* the launch may not execute it */
    SC_UNSURE_GATED = 1 << 1,    /* it is ordered after a node that may wait for the program */
    /* The operation may wait for the host in a way that no call shows; until that wait ends, the
     * host may touch its bytes, and order it with other work. */
    SC_UNSURE_WAITS = 1 << 2,
    /* A graph node after the operation may signal its end to the host in a way that no call shows.
     */
    SC_UNSURE_ENDS = 1 << 3,
    /* The host may learn of the operation's end, or a graph node before it may wait for the host,
     * in a way that no call shows: its memory is held back after a free, and no hazard is reported
     * for it. */
    SC_UNSURE_UNJUDGED = 1 << 4,
};

enum { SC_UNSURE_BITS = 5, SC_UNSURE_ALL = (1 << SC_UNSURE_BITS) - 1 };

#endif
