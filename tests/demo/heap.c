// link: cuda
/* A kernel that calls malloc, and one that writes to NULL, where malloc points when the device's
 * heap is used up: the program of docs/device-heap.md.
 *
 * Exit status 0: the context was lost, as it is meant to be.
 */
#include <cuda.h>
#include <stdio.h>

#define PTX ".version 7.0\n.target sm_70\n.address_size 64\n"

static const char tokenizer[] = PTX
    ".extern .func (.param .b64 r) malloc (.param .b64 n)\n;\n"
    ".visible .entry tokenize()\n{\n.reg .b64 %rd<3>;\nmov.u64 %rd1, 1024;\n{\n.param .b64 n0;\n"
    "st.param.b64 [n0], %rd1;\n.param .b64 r0;\ncall.uni (r0), malloc, (n0);\n"
    "ld.param.b64 %rd2, [r0];\n}\nret;\n}\n"
    ".visible .entry store_at_null()\n{\n.reg .b64 %rd<2>;\nmov.u64 %rd1, 0;\n"
    "st.global.u64 [%rd1], %rd1;\nret;\n}\n";

static __attribute__((noinline)) void run(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    cuModuleGetFunction(&function, module, name);
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

int main(void)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuModuleLoadData(&module, tokenizer);
    run(module, "tokenize");
    run(module, "store_at_null");
    CUresult result = cuCtxSynchronize();
    printf("cuCtxSynchronize: error %d\n", (int)result);
    return result == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 3;
}
