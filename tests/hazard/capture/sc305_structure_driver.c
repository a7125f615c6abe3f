// expect: SC305 action=reported certainty=latent event=cuMemsetD8Async direction=none
//
// The address lies in a structure that is a parameter of the captured kernel, behind a number, as
// those of C++ programs often do.
#include "left_out.h"

static const char source[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                             ".visible .entry use_view(\n"
                             "    .param .u32 use_view_flags,\n"
                             "    .param .align 8 .b8 use_view_view[24])\n{ ret; }\n";

struct view {
    unsigned rows, columns;
    CUdeviceptr data, end;
};

int main(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    driver_start();
    CHECK(cuModuleLoadData(&module, source));
    CHECK(cuModuleGetFunction(&kernel, module, "use_view"));
    CUstream stream = driver_new_stream();
    CUdeviceptr sum = driver_device_block(SMALL, FOREIGN);
    struct view view = {1, (unsigned)SMALL, sum, sum + SMALL};
    unsigned flags = 0;
    void *parameters[] = {&flags, &view};

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD8Async(sum, 0, SMALL, fixed ? stream : NULL));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    CUgraphExec exec = driver_end_capture(stream, fixed ? 2 : 1);

    CHECK(cuCtxSynchronize());
    driver_replay(exec, stream);
    CHECK(cuMemcpyDtoH(image_of(SMALL), sum, SMALL)); /* reads alone */
    driver_replay(exec, stream);
    return finish(!broken);
}
