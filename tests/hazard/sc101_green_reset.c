// expect: SC101 action=deferred kind=registered certainty=observed
// needs: sim
//
// A reset of the primary context waits for a copy in a green one whose source was freed, and takes
// the green one with it: whoever looks after the source meanwhile makes no call there either.
#include "green.h"

int main(void)
{
    driver_start();
    CUstream stream = green_stream(green_context());
    struct driver_round_trip trip = driver_free_in_flight(stream);
    CHECK(cuDevicePrimaryCtxReset(0));
    return finish(driver_is_back(&trip));
}
