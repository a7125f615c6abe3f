// run: strict=1 HOW=stream -> coverage.missed=0 hazards=0
// run: strict=1 HOW=query -> coverage.missed=0 hazards=0
// run: strict=1 HOW=context -> coverage.missed=0 hazards=0
// run: mode=report HOW=stream -> coverage.missed=0 hazards=0
// run: strict=1 HOW=event -> coverage.missed=0 hazards=0
// run: strict=1 HOW=other -> hazard:code=SC105 exit=66
// run: strict=1 HOW=overwritten -> hazard:code=SC201 hazard:event.api=cuStreamSynchronize exit=66
/* The copies of a program come through the wrappers, and its waits pass them by. Nobody is accused
 * whose wait CUPTI tells of; a wait for something else proves nothing. */
#include "around.h"

static CUresult (*query)(CUstream);
static CUresult (*synchronize_context)(void);
static CUresult (*synchronize_event)(CUevent);
static cudaEvent_t event;

static void upload(void)
{
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
}

/* The first wait for an event is seen where another wait has been. */
static void wait_for_event(void)
{
    CUDA(direct.synchronize(stream));
    upload();
    CUDA(cudaEventRecord(event, stream));
    CUDA(synchronize_event(event));
}

static void wait_as(const char *how)
{
    cudaStream_t other;
    if (strcmp(how, "overwritten") == 0)
        memset(pinned, 1, BYTES);
    if (strcmp(how, "stream") == 0 || strcmp(how, "overwritten") == 0)
        CUDA(direct.synchronize(stream));
    while (strcmp(how, "query") == 0 && query(stream) != CUDA_SUCCESS)
        continue;
    if (strcmp(how, "context") == 0)
        CUDA(synchronize_context());
    if (strcmp(how, "event") == 0)
        wait_for_event();
    if (strcmp(how, "other") != 0)
        return;
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(direct.synchronize(other));
}

int main(void)
{
    set_up();
    go_around();
    *(void **)&query = around("cuStreamQuery");
    *(void **)&synchronize_context = around("cuCtxSynchronize");
    *(void **)&synchronize_event = around("cuEventSynchronize");
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    upload();
    wait_as(getenv("HOW"));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
