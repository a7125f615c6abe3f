// expect: SC501 action=ordered origin=cuMemAlloc_v2 direction=D2D event=cuMemsetD8Async
// sim: devices=2
// options: device=1
// needs: multi-gpu
//
// A box is sent to another device, and a stream there clears memory from its last byte on before it
// has come.
#include "peers.h"

enum { PITCH = 1024, ROWS = 16, BYTES = PITCH * ROWS };

int main(void)
{
    const int other = second_device();
    cudaStream_t send = stream_of(0);
    cudaEvent_t sent = event_of(0);
    cudaStream_t clear = stream_of(other);
    char *from = block_of(0, BYTES, WANTED);
    char *to = block_of(other, BYTES, FOREIGN);
    const size_t last = PITCH * (ROWS / 2 - 1) + PITCH / 2 - 1;
    struct cudaMemcpy3DPeerParms box;
    memset(&box, 0, sizeof box);
    box.srcPtr = (struct cudaPitchedPtr){from, PITCH, PITCH, ROWS};
    box.dstPtr = (struct cudaPitchedPtr){to, PITCH, PITCH, ROWS};
    box.srcDevice = 0;
    box.dstDevice = other;
    box.extent = (struct cudaExtent){PITCH / 2, ROWS / 2, 1};

    CHECK(cudaSetDevice(0));
    busy(send);
    CHECK(cudaMemcpy3DPeerAsync(&box, send));
    CHECK(cudaEventRecord(sent, send));
    CHECK(cudaSetDevice(other));
    if (fixed)
        CHECK(cudaStreamWaitEvent(clear, sent, 0));
    CHECK(cudaMemsetAsync(to + last, 0, BYTES - last, clear));

    synchronize(other);
    char byte = 1;
    CHECK(cudaMemcpy(&byte, to + last, 1, cudaMemcpyDeviceToHost));
    return finish(byte == 0);
}
