/* Lets the library call the driver without breaking a capture of the program.
 *
 * Only the calling thread is concerned. Locks: none. Calls the driver: not for a signal handler. */
#ifndef SC_INTERPOSE_DRIVER_RELAXED_H
#define SC_INTERPOSE_DRIVER_RELAXED_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

/* The thread's capture mode from sc_relaxed_begin to sc_relaxed_end, which restores it. Meanwhile
 * the mode is relaxed, so that the library can make calls which are unsafe during a capture. */
struct sc_relaxed {
    bool exchanged;
    CUstreamCaptureMode mode;
};
struct sc_relaxed sc_relaxed_begin(void);
void sc_relaxed_end(struct sc_relaxed *relaxed);

/* Is relaxed until the end of the block. */
#define SC_RELAXED()                                                                               \
    __attribute__((cleanup(sc_relaxed_end), unused)) struct sc_relaxed relaxed_ = sc_relaxed_begin()

#endif
