// expect-exit: 0
//
// cudaGetDriverEntryPoint and its ByVersion form, with every flag, and a copy through what they
// gave.
#include "lookup.h"

typedef CUresult copy_function(CUdeviceptr device, const void *host, size_t size, CUstream stream);

static void show(const char *name, unsigned version, unsigned long long flags)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found = (enum cudaDriverEntryPointQueryResult)7;
    int result = (int)cudaGetDriverEntryPointByVersion(name, &function, version, flags, &found);
    printf("%s %u %d -> %d/%d/#%d\n", name, version, (int)flags, result, (int)found,
           which(function));
}

int main(void)
{
    void *device = NULL;
    void *host = NULL;
    void *copy = NULL;
    CHECK(cudaMalloc(&device, 4096));
    CHECK(cudaMallocHost(&host, 4096));
    for (unsigned long long flags = 0; flags <= 2; flags++) {
        show("cuMemcpyHtoDAsync", 12000, flags);
        show("cuMemcpyHtoDAsync", 13000, flags);
        show("cuMemFreeHost", 13000, flags);
        show("cuNoSuchThing", 13000, flags);
    }
    SHOW(cudaGetDriverEntryPointByVersion("cuMemcpyHtoDAsync", &copy, 12000, cudaEnableDefault,
                                          NULL));
    SHOW(AS(copy_function, copy)((CUdeviceptr)(uintptr_t)device, host, 4096, NULL));
    SHOW(cudaStreamSynchronize(NULL));
    SHOW(cudaGetLastError());
    return 0;
}
