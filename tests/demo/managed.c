// cflags: -fno-inline
/* Two managed arrays that one device works on, and that are larger than it together: the program of
 * docs/memory.md, "Managed memory larger than the card". Meant for the simulated GPU alone
 * (SIM_GPU=devices=4:device_memory=1G): it ends with 2 where the device has more than that.
 *
 * Exit status 0: done; 3: a CUDA call failed.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t ARRAY_BYTES = (size_t)768 << 20, USED_BYTES = 4096;

#define CHECK(call) check((call), #call)

static void check(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "%s: error %d\n", call, (int)result);
    exit(3);
}

static float *make_weights(void)
{
    float *array = NULL;
    CHECK(cudaMallocManaged((void **)&array, ARRAY_BYTES, cudaMemAttachGlobal));
    return array;
}

static float *make_gradients(void)
{
    float *array = NULL;
    CHECK(cudaMallocManaged((void **)&array, ARRAY_BYTES, cudaMemAttachGlobal));
    memset(array, 0, USED_BYTES);
    return array;
}

static void end_unless_small(void)
{
    size_t free_bytes, total_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (total_bytes > 2 * ARRAY_BYTES)
        exit(2);
}

int main(void)
{
    end_unless_small();
    float *weights = make_weights(), *gradients = make_gradients();
    CHECK(cudaMemcpyAsync(weights, gradients, USED_BYTES, cudaMemcpyDefault, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(weights));
    CHECK(cudaFree(gradients));
    return 0;
}
