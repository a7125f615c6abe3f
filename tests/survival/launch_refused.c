// expect-exit: 0
// options: kernels=order
// needs: sim
// link: cuda cudart
//
// Launches that the driver refuses before it reads their parameters, which nobody can read: they
// fail with its own codes. What the library reads of parameters is read before the driver does.
#include "survival.h"

#include <cuda.h>
#include <sys/mman.h>

#include "tests/copying_kernel.h"

enum { BYTES = 4096 };

int main(void)
{
    cudaStream_t first, second;
    void *device, *host;
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost(&host, BYTES));
    memset(host, 7, BYTES);
    if (cuModuleLoadData(&module, copying_kernel_text) != CUDA_SUCCESS ||
        cuModuleGetFunction(&kernel, module, "copy_bytes") != CUDA_SUCCESS)
        return 3;
    void **nowhere = (void **)mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *null_parameters[3] = {NULL, NULL, NULL};
    void *nowhere_parameters[3] = {nowhere, nowhere, nowhere};
    void *bad_extra[3] = {CU_LAUNCH_PARAM_BUFFER_POINTER, nowhere, CU_LAUNCH_PARAM_END};

    CHECK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, first));
    /* a grid of nothing */
    printf("%d", cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, second, nowhere, NULL));
    printf(" %d", cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, second, null_parameters, NULL));
    printf(" %d", cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, second, nowhere_parameters, NULL));
    printf(" %d", cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, second, NULL, nowhere));
    printf(" %d\n", cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, second, NULL, bad_extra));
    CHECK(cudaDeviceSynchronize());
    return 0;
}
