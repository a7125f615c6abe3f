// expect-exit: 0
// needs: sim
// link: none
//
// cuGetProcAddress, both versions, over names, driver versions and flags: the results, the statuses
// and which answers are the same function must not change. Always handing out the newest version,
// or ignoring the flags, shows here.
#include "lookup.h"

static const char *const names[] = {
    "cuInit",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemcpyHtoDAsync",
    "cuMemcpyDtoHAsync",
    "cuMemcpyAsync",
    "cuMemcpy2DAsync",
    "cuMemcpy3DAsync",
    "cuMemcpyBatchAsync",
    "cuMemHostRegister",
    "cuMemFreeHost",
    "cuMemHostUnregister",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuEventRecord",
    "cuEventDestroy",
    "cuStreamDestroy",
    "cuCtxCreate",
    "cuLaunchHostFunc",
    "cuMemsetD8Async",
    "cuStreamBeginCapture",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuMemAlloc_v2",
    "cuMemcpyHtoDAsync_v2_ptsz",
    "cuNoSuchThing",
    "",
    "malloc",
};
static const int versions[] = {0, 1000, 2000, 3020, 4000, 7000, 11030, 11080, 12000, 12080, 13000};

static void show_v2(lookup_v2_function *lookup, const char *name, cuuint64_t flags)
{
    printf("%s flags %d:", name, (int)flags);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        void *function = NULL;
        CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)7;
        int result = (int)lookup(name, &function, versions[i], flags, &status);
        printf(" %d/%d/#%d", result, (int)status, which(function));
    }
    putchar('\n');
}

static void show_v1(lookup_v1_function *lookup, const char *name)
{
    printf("v1 %s:", name);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        void *function = NULL;
        int result = (int)lookup(name, &function, versions[i], 0);
        printf(" %d/#%d", result, which(function));
    }
    putchar('\n');
}

/* What is legal to leave out, and what is not. */
static void show_edges(lookup_v1_function *v1, lookup_v2_function *v2)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)7;
    SHOW(v2("cuMemAlloc", &function, 13000, 0, NULL));
    SHOW(function != NULL);
    SHOW(v2("cuNoSuchThing", &function, 13000, 0, NULL));
    SHOW(v2("cuMemAlloc", &function, 13000, 64, &status));
    SHOW(v2("cuMemAlloc", &function, -1, 0, &status));
    SHOW(v2(NULL, &function, 13000, 0, &status));
    SHOW(v2("cuMemAlloc", NULL, 13000, 0, &status));
    SHOW(v1(NULL, &function, 13000, 0));
    SHOW(v1("cuMemAlloc", NULL, 13000, 0));
}

int main(void)
{
    void *driver = open_or_exit("libcuda.so.1", RTLD_NOW);
    void *v1 = dlsym(driver, "cuGetProcAddress");
    void *v2 = dlsym(driver, "cuGetProcAddress_v2");
    void *init = dlsym(driver, "cuInit");
    SHOW(v1 && v2 && init);
    SHOW(AS(init_function, init)(0));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (cuuint64_t flags = 0; flags <= 3; flags++)
            show_v2(AS(lookup_v2_function, v2), names[i], flags);
        show_v1(AS(lookup_v1_function, v1), names[i]);
    }
    show_edges(AS(lookup_v1_function, v1), AS(lookup_v2_function, v2));
    return 0;
}
