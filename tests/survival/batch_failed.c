// expect-exit: 0
// link: cuda
// sim: late_batch=1
//
// The older batch call names the copy that it refuses, by its index among the program's copies:
// earlier ones may reach the driver in pieces. Those that were accepted before it land all the
// same.
#include <cuda.h>
#include <cudaTypedefs.h>

#include "survival.h"

enum { BYTES = 300 << 10, SMALL = 700 };

static void look_for(PFN_cuMemcpyBatchAsync_v12080 batch, CUdeviceptr device, CUstream stream,
                     CUmemcpySrcAccessOrder order)
{
    unsigned char *large = (unsigned char *)malloc(BYTES);
    unsigned char *small = (unsigned char *)malloc(SMALL);
    unsigned char found = 0;
    CUdeviceptr targets[] = {device, device + BYTES, device + BYTES + SMALL, device};
    CUdeviceptr sources[] = {(CUdeviceptr)(uintptr_t)(large + 77), (CUdeviceptr)(uintptr_t)small,
                             (CUdeviceptr)(uintptr_t)small, (CUdeviceptr)(uintptr_t)small};
    size_t sizes[] = {BYTES - 100, SMALL, (size_t)1 << 40, SMALL};
    size_t first = 0;
    size_t failed = 99;
    CUmemcpyAttributes attributes = {.srcAccessOrder = order};
    memset(large, (int)order, BYTES);
    memset(small, (int)order + 3, SMALL);

    SHOW(batch(targets, sources, sizes, 4, &attributes, &first, 1, &failed, stream));
    printf("order %d: failed %zu\n", (int)order, failed);
    SHOW(cuStreamSynchronize(stream));
    failed = 99;
    SHOW(batch(targets, sources, sizes, 2, &attributes, &first, 1, &failed, stream));
    printf("order %d: failed %zu\n", (int)order, failed);
    SHOW(batch(targets, sources, sizes, 2, &attributes, &first, 1, NULL, stream));
    SHOW(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(&found, device + BYTES - 101, 1));
    printf("last byte: %u\n", found);
    CHECK(cuMemcpyDtoH(&found, device + BYTES + SMALL - 1, 1));
    printf("last byte: %u\n", found);
    free(large);
    free(small);
}

int main(void)
{
    CUdevice gpu = 0;
    CUcontext context = NULL;
    CUstream stream = NULL;
    CUdeviceptr device = 0;
    void *found = NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&gpu, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, gpu));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&device, BYTES + 2 * SMALL));
    CHECK(cuGetProcAddress("cuMemcpyBatchAsync", &found, 12080, 0, NULL));

    look_for((PFN_cuMemcpyBatchAsync_v12080)found, device, stream,
             CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
    look_for((PFN_cuMemcpyBatchAsync_v12080)found, device, stream,
             CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
    look_for((PFN_cuMemcpyBatchAsync_v12080)found, device, stream, CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
    return 0;
}
