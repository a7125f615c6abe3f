// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A timer's signal handler writes a time stamp into the buffer that is being sent.
#include "touch.h"

#include <signal.h>
#include <sys/time.h>

static void *source;
static volatile sig_atomic_t stamped;

static void stamp(int number)
{
    (void)number;
    poke(source, 64);
    stamped = 1;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    struct itimerval soon = {.it_value = {.tv_usec = 2000}};
    source = pinned_block(SMALL, WANTED);
    signal(SIGALRM, stamp);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!stamped)
        usleep(500);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds_poked(source, SMALL, 64));
}
