// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A timer's signal handler looks at the progress that the device reports.
#include "touch.h"

#include <signal.h>
#include <sys/time.h>

static void *progress;
static volatile sig_atomic_t looked, right;

static void look(int number)
{
    (void)number;
    right = peek(progress, 64);
    looked = 1;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(4096, WANTED);
    struct itimerval soon = {.it_value = {.tv_usec = 2000}};
    progress = pinned_block(4096, 0);
    signal(SIGALRM, look);

    busy(stream);
    CHECK(cudaMemcpyAsync(progress, device, 4096, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!looked)
        usleep(500);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
