#include "interpose/driver/relaxed.h"

#include "interpose/driver/driver.h"

#include "common/poison.h"

/* Makes the thread's capture mode relaxed, so that a call of the library's breaks no capture of the
 * program's. Even if nothing captures: another thread may begin a capture at any moment. A driver
 * without the function knows no captures that a call could break. */
struct sc_relaxed sc_relaxed_begin(void)
{
    struct sc_relaxed relaxed = {false, CU_STREAM_CAPTURE_MODE_RELAXED};
    if (sc_real.cuThreadExchangeStreamCaptureMode)
        relaxed.exchanged =
            sc_real.cuThreadExchangeStreamCaptureMode(&relaxed.mode) == CUDA_SUCCESS;
    return relaxed;
}

/* Restores the capture mode that the thread had. */
void sc_relaxed_end(struct sc_relaxed *relaxed)
{
    if (relaxed->exchanged)
        sc_real.cuThreadExchangeStreamCaptureMode(&relaxed->mode);
}
