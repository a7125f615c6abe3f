// run: strict=1 -> hazards=0
// run: strict=1 HALF=1 -> hazards=0
// run: mode=report -> hazards=0
/* A stream is destroyed around the wrappers, and a blocking one made that has its handle: it is
 * waited for by the legacy stream, as the former one was not. HALF: the wrappers see the new one
 * come. */
#include "around.h"

enum { TRIES = 64 };

static CUresult (*create)(CUstream *, unsigned);
static CUresult (*destroy)(CUstream);

/* False where the driver gives the handle to another stream. */
static int make_with(CUstream handle)
{
    for (int i = 0; i < TRIES; i++) {
        CUDA(create((CUstream *)&stream, CU_STREAM_DEFAULT));
        if (stream == handle)
            return 1;
    }
    return 0;
}

int main(void)
{
    set_up();
    go_around();
    *(void **)&create = around("cuStreamCreate");
    *(void **)&destroy = around("cuStreamDestroy_v2");
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUstream former = stream;
    CUDA(destroy(former));
    if (getenv("HALF"))
        create = cuStreamCreate;
    if (make_with(former)) {
        CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
        CUDA(cudaStreamSynchronize(0));
    }
    CUDA(cudaFreeHost(pinned));
    return 0;
}
