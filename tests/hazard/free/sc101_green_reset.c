// expect: SC101 action=deferred kind=registered certainty=observed
//
// A reset of the primary context is refused while it has a green one: a source that was freed there
// is held as before.
#include "green.h"

int main(void)
{
    driver_start();
    CUstream stream = green_stream(green_context());
    struct driver_round_trip trip = driver_free_in_flight(stream);
    bool refused = cuDevicePrimaryCtxReset(0) == CUDA_ERROR_NOT_PERMITTED;
    CHECK(cuStreamSynchronize(stream));
    return finish(driver_is_back(&trip) && refused);
}
