// expect: SC501 action=ordered direction=memset event=cuMemcpy2DAsync_v2 certainty=observed
// options: device=1
//
// A graph clears the right half of each row, which another stream fills without an order.
#include "graphs.h"

enum { WIDTH = 512, ROWS = 64, HALF = WIDTH / 2 };

int main(void)
{
    cudaStream_t clear = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t cleared = new_event();
    char *source = pinned_block(WIDTH * ROWS, WANTED);
    char *image = device_block(WIDTH * ROWS, WANTED);
    begin_capture(clear);
    CHECK(cudaMemset2DAsync(image + HALF, WIDTH, 0, HALF, ROWS, clear));
    cudaGraphExec_t exec = instantiate_only(end_capture(clear));

    busy(clear);
    CHECK(cudaGraphLaunch(exec, clear));
    CHECK(cudaEventRecord(cleared, clear));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, cleared, 0));
    CHECK(cudaMemcpy2DAsync(image + HALF, WIDTH, source + HALF, WIDTH, HALF, ROWS,
                            cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(image, WIDTH * ROWS, WANTED));
}
