// expect-exit: 0
// link: cuda
//
// The driver takes memory for a context, a module and the first launch of a kernel, and the program
// asks after each who has it; then it raises the signal of its first argument, if there is one, and
// waits for a line. tests/unit/test_memory.py looks at what the report says of it.
#include <cuda.h>
#include <signal.h>

#include "../../include/safecopy.h"
#include "survival.h"

enum { MB = 1 << 20, KB = 1 << 10, PATIENCE_S = 60 };

static const char image[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry nothing()\n{\nret;\n}\n";

/* Does the ledger say so by now? Without the library nobody does. */
static SURVIVAL_HELPER void await(const char *what)
{
    static char json[256 * KB];
    for (unsigned i = 0; safecopy_version() && i < 100 * PATIENCE_S; i++) {
        (void)safecopy_get_memory(json, sizeof json);
        if (strstr(json, what))
            return;
        usleep(10 * 1000);
    }
}

int main(int argc, char **argv)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr block = 0;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&block, 64 * MB));
    if (argc > 1) {
        raise(atoi(argv[1]));
        await("\"unaccounted\"");
        CHECK(cuDevicePrimaryCtxRetain(&context, 0)); /* which takes nothing */
        CHECK(cuModuleLoadData(&module, image));
        await("cuModuleLoadData");
        CHECK(cuModuleGetFunction(&function, module, "nothing"));
        CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        CHECK(cuCtxSynchronize());
        await("cuModuleGetFunction");
    }
    CHECK(cuMemFree(block));
    return 0;
}
