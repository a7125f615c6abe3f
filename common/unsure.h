/* Why an operation is not surely ordered as the calls say: reasons, as bits. What a set of them
 * comes to is in track/ordering.h. Plain data. */
#ifndef SC_WORDS_UNSURE_H
#define SC_WORDS_UNSURE_H

enum sc_unsure {
    SC_UNSURE_LEFT_OUT = 1 << 0, /* the launch that has it may leave it out */
    SC_UNSURE_GATED = 1 << 1,    /* it is behind a node that may wait for the program */
    SC_UNSURE_WAITS = 1 << 2,    /* it may wait for the host in a way that is not seen: until then
                                  * the host may touch its bytes, and order it with others */
    SC_UNSURE_ENDS = 1 << 3, /* a node behind it may tell of its end in a way that is not seen */
    SC_UNSURE_UNJUDGED = 1 << 4, /* the host may learn of its end, or a node before it wait, in a
                                  * way that is not seen: it keeps its memory, and is no hazard's */
};

enum { SC_UNSURE_BITS = 5, SC_UNSURE_ALL = (1 << SC_UNSURE_BITS) - 1 };

#endif
