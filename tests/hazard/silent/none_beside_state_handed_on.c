// expect: none
//
// A state is set up once, beside the capture. Each launch works on it, and hands the next one on by
// a copy: no launch but the first uses what was uploaded.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t uploads = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *state = device_block(SMALL, 0);
    void *seen = device_block(SMALL, 0);
    void *next = device_block(SMALL, NEXT);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemcpyAsync(state, source, SMALL, cudaMemcpyHostToDevice, uploads));
    CHECK(cudaStreamSynchronize(uploads));
    capture_copy(seen, state, stream);
    capture_copy(state, next, stream);
    cudaGraphExec_t exec = end_capture(stream, 2);

    replay(exec, stream);
    bool first = device_holds(seen, SMALL, WANTED);
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && first && device_holds(seen, SMALL, NEXT));
}
