// expect: SC101 action=deferred kind=registered certainty=observed
//
// cuCtxDestroy waits for a copy whose source was freed. Whoever looks after the source meanwhile
// makes no call in that context, nor with its events: what a driver does then nobody says.
#include "twin_driver.h"

int main(void)
{
    CUcontext context = NULL;
    driver_start();
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CUstream stream = driver_new_stream();
    struct driver_round_trip trip = driver_free_in_flight(stream);
    CHECK(cuCtxDestroy(context));
    return finish(driver_is_back(&trip));
}
