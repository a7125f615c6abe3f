// expect: SC305 action=reported kind=device certainty=latent event=cuMemsetD8Async
// expect: SC305 action=reported kind=device certainty=latent event=cuLaunchKernel direction=D2H
//
// After spiriMirror/libuipc#472. A solver captures an iteration on its stream. A helper of its,
// which takes no stream, clears the residual and computes the norm on the legacy stream, by the
// same thread: both run once, while the graph is captured. No call fails. All iterations then add
// to the residual of the one before, and the host reads the norm of the first one.
#include "left_out.h"

struct solver {
    cudaStream_t stream, helpers;
    CUfunction kernel;
    void *step, *residual, *norm, *seen_residual, *seen_norm;
};

static void capture_iteration(struct solver *solver)
{
    CHECK(cudaStreamBeginCapture(solver->stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(solver->residual, 0, SMALL, solver->helpers));
    CHECK(cudaMemcpyAsync(solver->seen_residual, solver->residual, SMALL, cudaMemcpyDeviceToHost,
                          solver->stream));
    launch_copy(solver->kernel, (CUdeviceptr)solver->residual, (CUdeviceptr)solver->step,
                solver->stream);
    launch_copy(solver->kernel, (CUdeviceptr)solver->norm, (CUdeviceptr)solver->step,
                solver->helpers);
    CHECK(cudaMemcpyAsync(solver->seen_norm, solver->norm, SMALL, cudaMemcpyDeviceToHost,
                          solver->stream));
}

int main(void)
{
    struct solver solver = {
        .stream = new_stream(),
        .kernel = NULL,
        .step = device_block(SMALL, WANTED),
        .residual = device_block(SMALL, FOREIGN),
        .norm = device_block(SMALL, 0),
        .seen_residual = pinned_block(SMALL, FOREIGN),
        .seen_norm = pinned_block(SMALL, 0),
    };
    void *next = pinned_block(SMALL, NEXT);
    solver.helpers = fixed ? solver.stream : 0;
    solver.kernel = copying_kernel();

    capture_iteration(&solver);
    cudaGraphExec_t exec = end_capture(solver.stream, fixed ? 5 : 3);
    CHECK(cudaDeviceSynchronize());
    replay(exec, solver.stream);
    CHECK(cudaMemcpyAsync(solver.step, next, SMALL, cudaMemcpyHostToDevice, solver.stream));
    replay(exec, solver.stream);
    bool is_cleared = ((unsigned char *)solver.seen_residual)[1] == 0;
    bool is_new = holds(solver.seen_norm, SMALL, NEXT);
    return finish(!broken && is_cleared == fixed && is_new == fixed);
}
