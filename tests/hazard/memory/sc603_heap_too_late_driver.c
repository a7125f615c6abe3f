// expect: SC603 advisory=True action=reported kind=none certainty=observed event=cuCtxSetLimit
// needs: preload
//
// A kernel that calls malloc is launched, and only then does the program ask for a larger heap: the
// driver refuses. The fixed build asks first.
#include "twin_driver.h"

#define PTX ".version 7.0\n.target sm_52\n.address_size 64\n"

static const char image[] =
    PTX ".extern .func (.param .b64 result) malloc (.param .b64 bytes);\n"
        ".visible .entry take()\n{\n.reg .b64 %rd<3>;\nmov.u64 %rd1, 1024;\n{\n"
        ".param .b64 bytes;\n.param .b64 result;\nst.param.b64 [bytes], %rd1;\n"
        "call.uni (result), malloc, (bytes);\nld.param.b64 %rd2, [result];\n}\nret;\n}\n";

static TWIN_HELPER void take(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&kernel, module, "take"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static TWIN_HELPER CUresult enlarge(void)
{
    return cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)64 << 20);
}

int main(void)
{
    CUresult early, late;
    driver_start();
    early = fixed ? enlarge() : CUDA_SUCCESS;
    take();
    late = fixed ? CUDA_SUCCESS : enlarge();
    CHECK(cuCtxSynchronize());
    return finish(early == CUDA_SUCCESS && (fixed || late == CUDA_ERROR_INVALID_VALUE));
}
