// expect: none
//
// A tuner runs each operation once on a stream of its own before it captures it, with the memory
// that the graph uses: kernels, copies and memsets. The graph has them all.
#include "left_out.h"

struct step {
    CUfunction kernel;
    CUdeviceptr input, scratch, result;
    void *source, *seen;
};

static void upload(const struct step *step, CUstream stream)
{
    CHECK(cuMemcpyHtoDAsync(step->input, step->source, SMALL, stream));
}

static void clear(const struct step *step, CUstream stream)
{
    CHECK(cuMemsetD8Async(step->scratch, 0, SMALL, stream));
}

static void copy(const struct step *step, CUstream stream)
{
    launch_copy(step->kernel, step->scratch, step->input, stream);
}

static void hand_on(const struct step *step, CUstream stream)
{
    CHECK(cuMemcpyDtoDAsync(step->result, step->scratch, SMALL, stream));
}

static void download(const struct step *step, CUstream stream)
{
    CHECK(cuMemcpyDtoHAsync(step->seen, step->result, SMALL, stream));
}

int main(void)
{
    driver_start();
    void (*const operations[])(const struct step *, CUstream) = {clear, upload, copy, hand_on,
                                                                 download};
    CUstream stream = driver_new_stream();
    CUstream tuning = driver_new_stream();
    struct step step = {
        .kernel = copying_kernel(),
        .input = driver_device_block(SMALL, 0),
        .scratch = driver_device_block(SMALL, FOREIGN),
        .result = driver_device_block(SMALL, FOREIGN),
        .source = driver_pinned_block(SMALL, WANTED),
        .seen = driver_pinned_block(SMALL, 0),
    };

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (unsigned i = 0; i < 5; i++) {
        operations[i](&step, tuning);
        CHECK(cuStreamSynchronize(tuning));
        operations[i](&step, stream);
    }
    CUgraphExec exec = driver_end_capture(stream, 5);

    driver_replay(exec, stream);
    fill(step.source, SMALL, NEXT);
    driver_replay(exec, stream);
    return finish(!broken && holds(step.seen, SMALL, NEXT));
}
