// cflags: -Wl,--no-as-needed out/sim/libcupti.so.13 -Wl,--as-needed
// run: -> cupti.state=unused
// run: strict=1 -> cupti.state=yielded coverage.wrapped=3
// run: cupti=require -> cupti.state=yielded exit=66
/* The same for a profiler that is linked with libcupti, and for one in a library that keeps its
 * symbols to itself: their calls are bound to the preloaded library, which has to find the real
 * function. */
#include "profiler.h"

int main(void)
{
    CUpti_SubscriberHandle second;
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
    CUpti_SubscriberParams parameters = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                         .subscriberName = "profiler",
                                         .oldSubscriberName = holder,
                                         .oldSubscriberSize = sizeof holder};
    profiler.subscribe = cuptiSubscribe;
    profiler.unsubscribe = cuptiUnsubscribe;
    profiler.enable = cuptiEnableCallback;
    set_up();
    copy();
    profiler_begin();
    copy();
    CHECK(profiler.heard == 2);
    CHECK(cuptiSubscribe_v2(&second, profiler_hear, &profiler, &parameters) ==
          CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    profiler_end();
    CHECK(cuptiSubscribe_v2(&second, profiler_hear, &profiler, &parameters) == CUPTI_SUCCESS);
    CHECK(cuptiFinalize() == CUPTI_SUCCESS);
    return 0;
}
