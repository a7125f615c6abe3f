// expect-exit: 0
// link: cuda
//
// Limits of contexts, which are printed as the program finds them: the device's heap before and
// behind the launch of a kernel that calls malloc. With an argument the program asks for a larger
// one then, which is too late. It says what else there is: nothing (late), a limit that the program
// sets in time (early), the primary context (primary), or one that is green (green), a reset and
// the same once more (reset), many functions (many), many modules that call malloc (many_heaps),
// many calls that set a limit (sets), and contexts that do (contexts), a kernel of a library
// (library), the value that is in force (same), two threads that meet the primary context at a
// time, of which the first sets the limit (threads), a module out of a file (cubin FILE), a launch
// that nothing comes behind (none), a wait for the ledger to have so many MB (waits MB), a callback
// that hears of errors (logs), a context that is lost by a bad address behind it all (fault), where
// a graph has launched the kernel, too (graph), or by a kernel that gives up (gives_up).
// tests/unit/test_limits.py looks at what the report says.
#include <cuda.h>
#include <pthread.h>
#include <unistd.h>

#include "../../include/safecopy.h"
#include "survival.h"

#define PTX ".version 7.0\n.target sm_70\n.address_size 64\n"

enum { MB = 1 << 20, MANY = 200, HEAPS = 19, SETS = 61, CONTEXTS = 50, PATIENCE_S = 60 };

static const char heap[] = PTX ".extern .func (.param .b64 r) malloc (.param .b64 n)\n;\n"
                               ".visible .entry take()\n{\n"
                               ".reg .b64 %rd<3>;\nmov.u64 %rd1, 1024;\n{\n.param .b64 n0;\n"
                               "st.param.b64 [n0], %rd1;\n.param .b64 r0;\ncall.uni (r0), malloc, "
                               "(n0);\nld.param.b64 %rd2, [r0];\n}\nret;\n}\n";
static const char plain[] = PTX ".visible .entry nothing()\n{\nret;\n}\n"
                                ".visible .entry fault()\n{\ntrap;\n}\n"
                                ".visible .entry store_at_null()\n{\n.reg .b64 %rd<2>;\n"
                                "mov.u64 %rd1, 0;\nst.global.u64 [%rd1], %rd1;\nret;\n}\n";

static bool does(int argc, char **argv, const char *what)
{
    return argc > 1 && strcmp(argv[1], what) == 0;
}

static void print(const char *when)
{
    size_t heap_bytes = 0, stack_bytes = 0, fifo_bytes = 0;
    CHECK(cuCtxGetLimit(&heap_bytes, CU_LIMIT_MALLOC_HEAP_SIZE));
    CHECK(cuCtxGetLimit(&stack_bytes, CU_LIMIT_STACK_SIZE));
    CHECK(cuCtxGetLimit(&fifo_bytes, CU_LIMIT_PRINTF_FIFO_SIZE));
    printf("%s: heap %zu, stack %zu, fifo %zu\n", when, heap_bytes, stack_bytes, fifo_bytes);
}

static SURVIVAL_HELPER void launch(const char *image, const char *name)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&function, module, name));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static SURVIVAL_HELPER void launch_of_library(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CHECK(cuLibraryLoadData(&library, heap, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "take"));
    CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

static SURVIVAL_HELPER void launch_by_graph(void)
{
    CUmodule module = NULL;
    CUDA_KERNEL_NODE_PARAMS kernel = {.gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuModuleLoadData(&module, heap));
    CHECK(cuModuleGetFunction(&kernel.func, module, "take"));
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, NULL));
}

static SURVIVAL_HELPER void set(size_t bytes)
{
    printf("set %zu -> %d\n", bytes, (int)cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, bytes));
}

static SURVIVAL_HELPER void use_heap(bool is_late)
{
    launch(plain, "nothing");
    launch(heap, "take");
    if (is_late)
        set(64 * MB);
    print("behind");
}

static SURVIVAL_HELPER void launch_many(void)
{
    for (int i = 0; i < MANY; i++)
        launch(plain, "nothing");
}

/* Does the driver have so much by now, as the ledger says? Without the library nobody does. */
static SURVIVAL_HELPER void await(long long bytes)
{
    static const char key[] = "\"unaccounted\":{\"bytes\":";
    static char json[256 << 10];
    for (unsigned i = 0; safecopy_version() && i < 100 * PATIENCE_S; i++) {
        (void)safecopy_get_memory(json, sizeof json);
        const char *at = strstr(json, key);
        if (at && atoll(at + sizeof key - 1) >= bytes)
            return;
        usleep(10 * 1000);
    }
}

static SURVIVAL_HELPER void load_heaps(void)
{
    CUmodule module;
    for (int i = 0; i < HEAPS; i++)
        CHECK(cuModuleLoadData(&module, heap));
}

static SURVIVAL_HELPER void set_often(void)
{
    for (int i = 0; i < SETS; i++)
        CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048 + 1024 * (size_t)(i % 2)));
}

static SURVIVAL_HELPER void make_contexts(void)
{
    for (int i = 0; i < CONTEXTS; i++) {
        CUcontext context = NULL;
        CHECK(cuCtxCreate(&context, NULL, 0, 0));
        CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
        CHECK(cuCtxDestroy(context));
    }
}

static void CUDA_CB count_error(void *count, CUlogLevel level, char *message, size_t length)
{
    (void)level, (void)message, (void)length;
    ++*(int *)count;
}

static SURVIVAL_HELPER void load_file(const char *path)
{
    CUmodule module;
    static char image[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file || fread(image, 1, sizeof image, file) == 0)
        exit(3);
    fclose(file);
    CHECK(cuModuleLoadData(&module, image));
}

static CUcontext make(bool is_primary, bool is_green)
{
    CUcontext context = NULL;
    CUdevResource resource;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    if (is_green) {
        CHECK(cuDeviceGetDevResource(0, &resource, CU_DEV_RESOURCE_TYPE_SM));
        CHECK(cuDevResourceGenerateDesc(&description, &resource, 1));
        CHECK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    }
    if (is_primary || is_green) {
        CHECK(cuDevicePrimaryCtxRetain(&context, 0));
        CHECK(cuCtxSetCurrent(context));
    } else {
        CHECK(cuCtxCreate(&context, NULL, 0, 0));
    }
    return context;
}

static void *meet(void *sets)
{
    CHECK(cuCtxSetCurrent(make(true, false)));
    if (sets)
        CHECK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 * MB));
    return NULL;
}

/* The second one begins while the context is made, and is handed it a little later. */
static SURVIVAL_HELPER void meet_both(void)
{
    pthread_t first, second;
    bool sets = true;
    pthread_create(&first, NULL, meet, &sets);
    usleep(20 * 1000);
    pthread_create(&second, NULL, meet, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    make(true, false);
    print("met");
}

int main(int argc, char **argv)
{
    CHECK(cuInit(0));
    if (does(argc, argv, "threads")) {
        meet_both();
        return 0;
    }
    int errors = 0;
    if (does(argc, argv, "logs"))
        CHECK(cuLogsRegisterCallback(count_error, &errors, NULL));
    bool is_primary = does(argc, argv, "primary") || does(argc, argv, "reset");
    CUcontext context = make(is_primary, does(argc, argv, "green")), current = NULL;
    CHECK(cuCtxGetCurrent(&current));
    printf("%s context is current\n", current == context ? "the" : "another");
    print("before");
    if (does(argc, argv, "early"))
        set(32 * MB);
    if (does(argc, argv, "many"))
        launch_many();
    if (does(argc, argv, "many_heaps"))
        load_heaps();
    if (does(argc, argv, "sets"))
        set_often();
    if (does(argc, argv, "contexts"))
        make_contexts();
    if (does(argc, argv, "cubin"))
        load_file(argv[2]);
    if (does(argc, argv, "graph"))
        launch_by_graph();
    else if (does(argc, argv, "library"))
        launch_of_library();
    if (!does(argc, argv, "graph"))
        use_heap(argc > 1 && !does(argc, argv, "none") && !does(argc, argv, "same"));
    if (does(argc, argv, "same"))
        set(8 * MB);
    if (does(argc, argv, "reset")) {
        CHECK(cuDevicePrimaryCtxReset(0));
        make(true, false);
        print("reset");
        use_heap(true);
    }
    if (does(argc, argv, "waits")) {
        CUdeviceptr block;
        CHECK(cuMemAlloc(&block, MB));
        await(atoi(argv[2]) * (long long)MB);
    }
    if (does(argc, argv, "logs"))
        printf("errors that were heard: %d\n", errors);
    if (does(argc, argv, "fault") || does(argc, argv, "graph") || does(argc, argv, "gives_up")) {
        launch(plain, does(argc, argv, "gives_up") ? "fault" : "store_at_null");
        printf("synchronise -> %d\n", (int)cuCtxSynchronize());
        return 0;
    }
    CHECK(cuCtxSynchronize());
    return 0;
}
