// expect: SC201 action=stalled kind=pinned certainty=observed
//
// An exec is launched behind the copy, and then elsewhere. Launches without nodes, as the racy
// build has them, do not wait for one another, and so the second says nothing of the copy.
#include "empty_launch.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    struct empty_launch launch = new_empty_launch(false);

    send_late(&launch, first);
    CHECK(cudaGraphLaunch(launch.exec, first));
    CHECK(cudaGraphLaunch(launch.exec, second));
    return finish(right_after_write(&launch, second));
}
