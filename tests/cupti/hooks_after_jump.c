// run: pinned=driver -> hazard:code=SC101 hazard:action=deferred
/* A signal handler leaves a free of pinned memory, in which the driver waits, by siglongjmp. What
 * the thread frees from then on is looked at as before. (Here because programs of this folder say
 * what their reports must hold.) */
#include "jump.h"

static void leave_free(void)
{
    struct sigaction action = {.sa_handler = jump};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CUDA(cudaLaunchHostFunc(stream, hold, NULL));
    if (sigsetjmp(back, 1) == 0) {
        ualarm(50000, 0);
        CUDA(cudaFreeHost(pinned));
        CHECK(!"the wait is left");
    }
}

int main(void)
{
    set_up();
    void *source = malloc(BYTES);
    CUDA(cudaHostRegister(source, BYTES, cudaHostRegisterDefault));
    leave_free();
    CUDA(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    free(source);
    released = true;
    CUDA(cudaStreamSynchronize(stream));
    return 0;
}
