// expect-exit: 0
// link: cuda
// options: mode=off
//
// With mode=off a program that is linked with the driver calls the driver's own functions: as often
// as its argument says, one that does nothing worth mentioning.
#include "lookup.h"

int main(int argc, char **argv)
{
    CUcontext context = NULL;
    CUevent event = NULL;
    int errors = 0;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 10); i++)
        errors += cuEventQuery(event) != CUDA_SUCCESS;
    printf("errors: %d\n", errors);
    SHOW(cuEventDestroy(event));
    SHOW(cuEventDestroy(NULL));
    SHOW(dlsym(RTLD_DEFAULT, "cuEventQuery") != NULL);
    SHOW(cuDevicePrimaryCtxRelease(0));
    return 0;
}
