/* What needs a tracker's lock, called by a test with a tracker of its own. */
#ifndef SC_TESTS_UNIT_LOCKED_H
#define SC_TESTS_UNIT_LOCKED_H

#include "track/track.h"

/* The value of the expression, which is evaluated with the lock of the tracker. */
#define LOCKED(tracker, ...)                                                                       \
    __extension__({                                                                                \
        SC_TRACK_SCOPE_OF(tracker, scope_);                                                        \
        __VA_ARGS__;                                                                               \
    })

#endif
