// expect-exit: 0
// link: cuda
//
// A clean-up that destroys streams which were never made; then many are. The refusals cost nothing
// and break nothing.
#include "survival.h"

#include <cuda.h>

enum { NEVER_MADE = 30, MADE = 300 };

static long peak_kb(void)
{
    long kb = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmPeak: %ld", &kb) == 1)
            break;
    if (status)
        fclose(status);
    return kb;
}

int main(void)
{
    static CUstream streams[MADE];
    CUcontext context = NULL;
    int refused = 0;
    SHOW(cuInit(0));
    SHOW(cuDevicePrimaryCtxRetain(&context, 0));
    SHOW(cuCtxSetCurrent(context));
    for (int i = 0; i < NEVER_MADE; i++)
        refused += cuStreamDestroy(NULL) != CUDA_SUCCESS;
    SHOW(refused);
    long before_kb = peak_kb();
    for (int i = 0; i < MADE; i++)
        refused -= cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    SHOW(refused);
    SHOW(peak_kb() - before_kb < 1L << 20);
    for (int i = 0; i < MADE; i++)
        refused += cuStreamDestroy(streams[i]) == CUDA_SUCCESS;
    SHOW(refused);
    return 0;
}
