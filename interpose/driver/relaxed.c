#include "interpose/driver/relaxed.h"

#include "interpose/driver/driver.h"

#include "common/poison.h"

/* Sets the thread's mode of capture to relaxed, even if nothing has captured: another thread may
 * begin a capture at any moment. */
struct sc_relaxed sc_relaxed_begin(void)
{
    struct sc_relaxed relaxed = {false, CU_STREAM_CAPTURE_MODE_RELAXED};
    if (sc_real.cuThreadExchangeStreamCaptureMode)
        relaxed.exchanged =
            sc_real.cuThreadExchangeStreamCaptureMode(&relaxed.mode) == CUDA_SUCCESS;
    return relaxed;
}

void sc_relaxed_end(struct sc_relaxed *relaxed)
{
    if (relaxed->exchanged)
        sc_real.cuThreadExchangeStreamCaptureMode(&relaxed->mode);
}
