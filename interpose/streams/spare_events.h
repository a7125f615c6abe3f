/* Events of a context that nothing waits for any more, kept to be used again.
 *
 * Thread-safe. Lock: one for each context, a leaf. Not for a signal handler: the driver is called.
 */
#ifndef SC_INTERPOSE_STREAMS_SPARE_EVENTS_H
#define SC_INTERPOSE_STREAMS_SPARE_EVENTS_H

#include <pthread.h>

#include "interpose/driver/driver.h"

enum { SC_SPARE_EVENTS_MAX = 256 };

struct sc_spare_events {
    pthread_mutex_t lock;
    unsigned count;
    CUevent events[SC_SPARE_EVENTS_MAX];
};

/* A spare event, or a new one of the current context. Returns what the driver says; there is an
 * event if that is success. */
CUresult sc_spare_events_take(struct sc_spare_events *spare, CUevent *event);

/* Where there are enough, the event is destroyed. */
void sc_spare_events_give(struct sc_spare_events *spare, CUevent event);

#endif
