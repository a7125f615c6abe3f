// run: strict=1 STATUS=256 -> exit_status=66 exit=66
// run: strict=1 STATUS=256 BY=_exit -> exit_status=66 exit=66
// run: strict=1 STATUS=256 BY=quick_exit -> exit_status=66 exit=66
// run: strict=1 STATUS=-1 -> exit_status=255 exit=255
// run: strict=1 STATUS=-1 BY=_exit -> exit_status=255 exit=255
// run: strict=1 STATUS=-1 BY=quick_exit -> exit_status=255 exit=255
// run: strict=1 STATUS=261 -> exit_status=5 exit=5
// run: STATUS=256 -> exit_status=0
/* Of the status that a process gives itself the low byte is left, which is what counts. */
#include <unistd.h>

#include "profiler.h"

static void race(void)
{
    void *source = malloc(1 << 20);
    CUDA(cudaHostRegister(source, 1 << 20, 0));
    CUDA(cudaMalloc(&device, 1 << 20));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMemcpyAsync(device, source, 1 << 20, cudaMemcpyHostToDevice, stream));
    free(source);
}

int main(void)
{
    const char *by = getenv("BY");
    int status = atoi(getenv("STATUS"));
    race();
    if (by && strcmp(by, "_exit") == 0)
        _exit(status);
    if (by && strcmp(by, "quick_exit") == 0)
        quick_exit(status);
    return status;
}
