// expect-exit: 0
//
// All signals are blocked while CUDA comes up, so that the driver's threads inherit that, and no
// more when copies are in flight. Pages are guarded, and a host function, which runs on a thread of
// the driver's, touches memory beside a copy.
#include "signals.h"

static void touch(void *unused)
{
    (void)unused;
    (*(volatile unsigned char *)beside.block)++;
}

static void nothing(void *unused)
{
    (void)unused;
}

int main(void)
{
    sigset_t all = every(), before;
    cudaStream_t stream;
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaLaunchHostFunc(stream, nothing, NULL)); /* which starts their threads */
    CHECK(cudaStreamSynchronize(stream));
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL));
    edge_start();
    touch_beside("main");
    hold();
    CHECK(cudaLaunchHostFunc(stream, touch, NULL));
    CHECK(cudaStreamSynchronize(stream));
    release();
    printf("a host function: touched beside a copy\n");
    return 0;
}
