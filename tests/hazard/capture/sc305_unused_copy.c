// expect: SC305 advisory=True kind=device certainty=latent event=cuMemcpyHtoDAsync_v2 direction=D2H
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemcpyDtoDAsync_v2 direction=D2H
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemcpy2DAsync_v2 direction=D2H
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemcpy3DAsync_v2 direction=D2H
//
// Copies on the legacy stream, within a capture of other memory, are meant for each launch: an
// upload, one on the device, one of columns and one of a box. The program clears their targets by
// memsets on the stream of the graph, launches it, and downloads zeros.
#include "unused.h"

enum { FORMS = 4, ROWS = 64, ROW = 1024 };

static void copy(void *to, void *source, void *from, int form, cudaStream_t stream)
{
    struct cudaMemcpy3DParms box;
    memset(&box, 0, sizeof box);
    box.srcPtr = (struct cudaPitchedPtr){source, ROW, ROW, ROWS / 4};
    box.dstPtr = (struct cudaPitchedPtr){to, ROW, ROW, ROWS / 4};
    box.extent = (struct cudaExtent){ROW / 2, ROWS / 4, 4};
    box.kind = cudaMemcpyHostToDevice;
    if (form == 0)
        CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    else if (form == 1)
        CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    else if (form == 2)
        CHECK(
            cudaMemcpy2DAsync(to, ROW, source, ROW, ROW / 2, ROWS, cudaMemcpyHostToDevice, stream));
    else
        CHECK(cudaMemcpy3DAsync(&box, stream));
}

int main(void)
{
    bool right = true;
    void *memory[FORMS];
    void *source = pinned_block(SMALL, WANTED);
    void *from = device_block(SMALL, WANTED);
    for (int form = 0; form < FORMS; form++)
        memory[form] = device_block(SMALL, FOREIGN);
    struct unused unused = unused_begin();

    for (int form = 0; form < FORMS; form++)
        copy(memory[form], source, from, form, fixed ? unused.stream : 0);
    unused_end(&unused, fixed ? FORMS : 0);
    for (int form = 0; form < FORMS; form++)
        CHECK(cudaMemsetAsync(memory[form], 0, SMALL, unused.stream));
    replay(unused.exec, unused.stream);
    for (int form = 0; form < FORMS; form++)
        right = device_holds(memory[form], ROW / 2, WANTED) == fixed && right;
    return finish(!broken && right);
}
