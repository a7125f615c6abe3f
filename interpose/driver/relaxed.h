/* Makes the library's own driver calls break no capture of the program's.
 *
 * Only the calling thread is concerned. Locks: none. Calls the driver: not for a signal handler. */
#ifndef SC_INTERPOSE_DRIVER_RELAXED_H
#define SC_INTERPOSE_DRIVER_RELAXED_H

#include <stdbool.h>

#include "interpose/driver/driver.h"

/* Makes the thread's capture mode relaxed until sc_relaxed_end. Calls of ours that would be
 * "unsafe" during a capture are made in between. */
struct sc_relaxed {
    bool exchanged;
    CUstreamCaptureMode mode;
};
struct sc_relaxed sc_relaxed_begin(void);
void sc_relaxed_end(struct sc_relaxed *relaxed);

#endif
