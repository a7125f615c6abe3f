// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Between the copy and work on another blocking stream a graph is launched in the legacy stream.
// One that does nothing, as the racy build has it, is no work there, and joins nothing.
#include "empty_launch.h"

#ifndef WITH_EMPTY_NODE
#define WITH_EMPTY_NODE false
#endif

int main(void)
{
    cudaStream_t first = blocking_stream();
    cudaStream_t second = blocking_stream();
    struct empty_launch launch = new_empty_launch(WITH_EMPTY_NODE);

    send_late(&launch, first);
    CHECK(cudaGraphLaunch(launch.exec, cudaStreamLegacy));
    CHECK(cudaMemsetAsync(launch.cleared, 0, SMALL, second));
    return finish(right_after_write(&launch, second));
}
