// run: strict=1 -> cupti.state=listening coverage.wrapped=4
/* A child has no subscription: CUDA does not work there, and who comes to CUPTI has it. The parent
 * keeps its own. */
#include <sys/wait.h>
#include <unistd.h>

#include "profiler.h"

static void child(void)
{
    profiler_load();
    CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream) != cudaSuccess);
    CHECK(profiler.subscribe(&profiler.handle, profiler_hear, &profiler) == CUPTI_SUCCESS);
    profiler_end();
    _exit(0);
}

int main(void)
{
    int status;
    set_up();
    copy();
    pid_t pid = fork();
    if (pid == 0)
        child();
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    copy();
    return 0;
}
