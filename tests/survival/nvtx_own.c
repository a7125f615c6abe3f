// env: NVTX_INJECTION64_PATH=$PROGRAMS/survival/lib/libnvtx_tool.so
// env: NVTX_LOG=/dev/stdout
/* A program with NVTX of its own, under a tool: its domain and marks are its own, also in a forked
 * child. With an argument it makes a mistake as well. */
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>

#include "in_flight.h"

/* The copy waits, and the block that it reads is freed. */
static void free_in_flight(void)
{
    void *source = calloc(1, IN_FLIGHT);
    CHECK(cudaHostRegister(source, IN_FLIGHT, cudaHostRegisterDefault));
    hold_stream(beside.stream);
    CHECK(cudaMemcpyAsync(beside.device, source, IN_FLIGHT, cudaMemcpyHostToDevice, beside.stream));
    free(source);
    let_go();
    CHECK(cudaStreamSynchronize(beside.stream));
}

int main(int count, char **arguments)
{
    (void)arguments;
    setvbuf(stdout, NULL, _IONBF, 0);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("program");
    nvtxMarkA("before CUDA");
    edge_start();
    hold();
    release();
    if (count > 1)
        free_in_flight();
    nvtxDomainRangeEnd(domain, 7);
    pid_t child = fork();
    if (child == 0) {
        nvtxMarkA("in the child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    nvtxMarkA("behind CUDA");
    return 0;
}
