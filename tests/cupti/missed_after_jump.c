// run: strict=1 -> coverage.missed=1 coverage:api=cuMemcpyHtoDAsync_v2 hazard:code=SC105 exit=66
// run: strict=1 FOLLOWED=1 -> coverage.missed=2 hazard:copy.api=cuMemcpyHtoDAsync_v2 exit=66
/* A signal handler leaves a wait by siglongjmp, that of a wrapper or that of a free that passed by
 * and is being followed: what passes by later is missed and followed all the same. */
#include "around.h"
#include "jump.h"

static void be_called(int number)
{
    struct sigaction action = {.sa_handler = jump};
    CHECK(sigaction(number, &action, NULL) == 0);
    ualarm(50000, 0);
}

/* The stream is held until the wait has been left. */
static void leave_wait(void)
{
    CUDA(cudaLaunchHostFunc(stream, hold, NULL));
    if (sigsetjmp(back, 1) == 0) {
        be_called(SIGALRM);
        CUDA(cudaStreamSynchronize(stream));
        CHECK(!"the wait is left");
    }
}

static void leave_followed_wait(void)
{
    void *other;
    CUDA(cudaMallocHost(&other, BYTES));
    CUDA(cudaLaunchHostFunc(stream, hold, NULL));
    CUDA(cudaMemcpyAsync(device, other, BYTES, cudaMemcpyHostToDevice, stream));
    if (sigsetjmp(back, 1) == 0) {
        be_called(SIGALRM);
        CUDA(direct.free_host(other));
        CHECK(!"the wait is left");
    }
}

int main(void)
{
    set_up();
    go_around();
    if (getenv("FOLLOWED"))
        leave_followed_wait();
    else
        leave_wait();
    released = true;
    CUDA(cudaStreamSynchronize(stream));
    CUDA(direct.copy(on_device(), pinned, BYTES, stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
