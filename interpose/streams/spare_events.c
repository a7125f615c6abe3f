#include "interpose/streams/spare_events.h"

#include <stdbool.h>

#include "interpose/driver/driver.h"

#include "track/poison.h"

CUresult sc_spare_events_take(struct sc_spare_events *spare, CUevent *event)
{
    *event = NULL;
    pthread_mutex_lock(&spare->lock);
    if (spare->count)
        *event = spare->events[--spare->count];
    pthread_mutex_unlock(&spare->lock);
    return *event ? CUDA_SUCCESS : sc_real.cuEventCreate(event, CU_EVENT_DISABLE_TIMING);
}

void sc_spare_events_give(struct sc_spare_events *spare, CUevent event)
{
    pthread_mutex_lock(&spare->lock);
    bool kept = spare->count < SC_SPARE_EVENTS_MAX;
    if (kept)
        spare->events[spare->count++] = event;
    pthread_mutex_unlock(&spare->lock);
    if (!kept)
        sc_real.cuEventDestroy_v2(event);
}
