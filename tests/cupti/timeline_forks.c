// run: timeline=1 -> timeline.state=listening timeline.matched=1
// sim: late_limit=10s
/* Children of a process with a timeline, with records pending: they end, by exit too, and the
 * parent's timeline goes on. */
#include <sys/wait.h>

#include "timeline.h"

static void fork_and_end(void (*end)(int))
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(120);
        free(malloc(BLOCK));
        end(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
    set_up();
    void *source = registered(BLOCK);
    CUDA(cudaFree(device));
    CUDA(cudaMalloc(&device, BLOCK));
    CUDA(cudaLaunchHostFunc(stream, note_begin, NULL));
    CUDA(cudaMemcpyAsync(device, source, BLOCK, cudaMemcpyHostToDevice, stream));
    CUDA(cudaLaunchHostFunc(stream, note_end, NULL));
    free(source);
    fork_and_end(exit);
    fork_and_end(_exit);
    CUDA(cudaStreamSynchronize(stream));
    struct timing timing = wait_for_timing(1);
    check_between(&timing);
    return 0;
}
