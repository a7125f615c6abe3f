// expect: none
//
// Two graphs for two buffers. While the graph of the one is captured, the other one's first input
// is uploaded; then they take turns, each after an upload of its own.
#include "left_out.h"

int main(void)
{
    bool right = true;
    cudaGraphExec_t execs[2];
    void *inputs[2];
    cudaStream_t stream = new_stream();
    cudaStream_t uploads = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *result = device_block(SMALL, 0);
    for (int i = 0; i < 2; i++)
        inputs[i] = device_block(SMALL, 0);

    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CHECK(cudaMemcpyAsync(inputs[!i], source, SMALL, cudaMemcpyHostToDevice, uploads));
        capture_copy(result, inputs[i], stream);
        execs[i] = end_capture(stream, 1);
    }
    for (unsigned step = 1; step < 7; step++) {
        CHECK(cudaStreamSynchronize(uploads));
        if (step > 2)
            fill(source, SMALL, step);
        if (step > 2)
            CHECK(
                cudaMemcpyAsync(inputs[step % 2], source, SMALL, cudaMemcpyHostToDevice, uploads));
        CHECK(cudaStreamSynchronize(uploads));
        replay(execs[step % 2], stream);
        right = device_holds(result, SMALL, step > 2 ? step : WANTED) && right;
    }
    return finish(!broken && right);
}
