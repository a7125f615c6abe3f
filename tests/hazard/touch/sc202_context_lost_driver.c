// expect: SC202 kind=pinned certainty=latent
//
// A kernel fails with copies behind it, and the context is lost: the wait says so, nothing runs any
// more, and no event can be recorded that would tell of the copies' end. Whoever touches their
// targets nevertheless is not kept waiting.
#include <cuda.h>

#include "touch.h"

#include <time.h>

enum { COPIES = 16, PROMPT_S = 5 };

static const char source[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                             ".visible .entry fault() { trap; }\n";

static CUfunction fault_kernel(void)
{
    CUmodule module = NULL;
    CUfunction fault = NULL;
    CHECK(cuModuleLoadData(&module, source));
    CHECK(cuModuleGetFunction(&fault, module, "fault"));
    return fault;
}

/* Half as long as the library would have it wait for what does not end. */
static bool touches_promptly(const void *target)
{
    time_t before_s = time(NULL);
    (void)peek(target, 0);
    return time(NULL) - before_s < PROMPT_S;
}

int main(void)
{
    struct gate gate = {0};
    void *targets[COPIES];
    bool prompt = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    CUfunction fault = fault_kernel();
    for (int i = 0; i < COPIES; i++)
        targets[i] = pinned_block(SMALL, 0);

    shut_gate(&gate, stream);
    CHECK(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    for (int i = 0; i < COPIES; i++)
        CHECK(cudaMemcpyAsync(targets[i], device, SMALL, cudaMemcpyDeviceToHost, stream));
    open_gate(&gate);
    bool lost = cudaStreamSynchronize(stream) == cudaErrorLaunchFailure;
    for (int i = 0; i < COPIES && !fixed; i++)
        prompt = touches_promptly(targets[i]) && prompt;
    return finish(lost && prompt);
}
