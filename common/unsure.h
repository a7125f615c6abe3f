/* Reasons why an operation is not surely ordered as the calls say, as bits. What a set of reasons
 * comes to is in track/ordering.h. Plain data. */
#ifndef SC_WORDS_UNSURE_H
#define SC_WORDS_UNSURE_H

enum sc_unsure {
    SC_UNSURE_LEFT_OUT = 1 << 0, /* its launch may leave it out */
    SC_UNSURE_GATED = 1 << 1,    /* it stands behind a node that may wait for the program */
    SC_UNSURE_WAITS = 1 << 2, /* it may wait for the host unseen; until that wait ends, the host may
                                 touch its bytes, and order it with other work */
    SC_UNSURE_ENDS = 1 << 3,  /* a node behind it may tell the host of its end, unseen */
    SC_UNSURE_UNJUDGED = 1 << 4, /* the host may learn of its end, or a node before it may wait for
                                    the host, unseen: its memory is kept, and it is no hazard's */
};

enum { SC_UNSURE_BITS = 5, SC_UNSURE_ALL = (1 << SC_UNSURE_BITS) - 1 };

#endif
