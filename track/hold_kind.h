/* What is held back. */
#ifndef SC_TRACK_HOLD_KIND_H
#define SC_TRACK_HOLD_KIND_H

enum sc_hold_kind {
    SC_HOLD_FREE,
    SC_HOLD_UNMAP,
    SC_HOLD_FREE_PINNED,
    SC_HOLD_UNREGISTER, /* the memory itself is still the program's */
    SC_HOLD_WAIT,       /* holds nothing back: a thread waits for its end; counts no bytes */
};

#endif
