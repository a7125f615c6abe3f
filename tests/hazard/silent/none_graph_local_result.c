// expect: none
//
// A captured copy writes a local of a function that is still running: it is there when the launch
// has returned and the stream is synchronised.
#include "graphs.h"

enum { BYTES = 2000 };

int main(void)
{
    unsigned char result[BYTES];
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);
    cudaGraphExec_t exec = captured_exec(result, device, BYTES, cudaMemcpyDeviceToHost, stream);
    for (int i = 0; i < 3; i++) {
        memset(result, i, sizeof result);
        replay(exec, stream);
        right = right && holds(result, BYTES, WANTED);
    }
    CHECK(cudaGraphExecDestroy(exec));
    return finish(right);
}
