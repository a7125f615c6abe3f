/* probe_memory: asks the CUDA driver how much memory each step takes by itself: contexts, modules,
 * first launches, local memory, the device's heap, small blocks. What has rules is asked by
 * conformance_memory.c and conformance_virtual.c. The answers are in docs/driver.md.
 *
 *     make out/probes/probe_memory && out/probes/probe_memory
 */
#include "../asking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t before;

static size_t free_bytes(void)
{
    size_t now = 0, total = 0;
    TRY(cuMemGetInfo(&now, &total));
    return now;
}

/* What was taken since the last step. */
static void step(const char *what)
{
    size_t now = free_bytes();
    say("%s: %+.1f MB\n", what, ((double)before - (double)now) / (double)MB);
    before = now;
}

static void begin(void)
{
    enter_primary();
    before = free_bytes();
}

/* The first context's own share shows from another one alone. */
static void ask_contexts(void)
{
    CUcontext other = NULL;
    begin();
    say("%zu MB are free behind the first context\n", before / MB);
    TRY(cuCtxCreate(&other, NULL, 0, device));
    step("a second context");
    TRY(cuCtxDestroy(other));
    step("it is destroyed");
    TRY(cuCtxSetCurrent(primary));
    TRY(cuDevicePrimaryCtxReset(device));
    enter_primary();
    step("the primary context reset and entered again");
}

static void ask_steps(void)
{
    CUmodule module = NULL;
    CUstream stream = NULL;
    begin();
    CUfunction empty = load_kernel("empty", &module);
    step("a module loaded, a function asked for");
    TRY(launch(empty, NULL));
    settle();
    step("the first launch");
    for (int i = 0; i < 64; i++)
        stream = new_stream(CU_STREAM_NON_BLOCKING);
    step("64 streams");
    TRY(launch(empty, stream));
    settle();
    step("a launch on one of them");
    for (int i = 0; i < 10000; i++)
        new_event();
    step("10,000 events");
    void *pinned = NULL;
    TRY(cuMemAllocHost(&pinned, 64 * MB));
    step("64 MB pinned");
    TRY(cuModuleUnload(module));
    step("the module unloaded");
}

static void ask_blocks(void)
{
    static const size_t sizes[] = {1,      512,    4096,       64 * KB, MB,
                                   MB + 1, 2 * MB, 2 * MB + 1, 3 * MB,  10 * MB};
    begin();
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr block[8];
        for (int n = 0; n < 8; n++)
            TRY(cuMemAlloc(&block[n], sizes[i]));
        say("8 blocks of %s, %lld bytes apart, ", size_text(sizes[i]),
            (long long)(block[1] - block[0]));
        step("together");
        for (int n = 0; n < 8; n++)
            TRY(cuMemFree(block[n]));
        step("  freed");
    }
    CUdeviceptr managed = 0;
    TRY(cuMemAllocManaged(&managed, 64 * MB, CU_MEM_ATTACH_GLOBAL));
    step("64 MB managed");
    TRY(cuMemsetD8(managed, 1, 64 * MB));
    settle();
    step("written by the device");
    TRY(cuMemFree(managed));
    step("freed");
}

/* A kernel with local memory, a heap or printf, as its PTX says. */
static const char local_ptx[] = ".version 7.0\n"
                                ".target sm_52\n"
                                ".address_size 64\n"
                                ".visible .entry locals(.param .u64 at)\n"
                                "{\n"
                                "    .local .align 8 .b8 room[65536];\n"
                                "    .reg .b64 %n, %p;\n"
                                "    .reg .b32 %v;\n"
                                "    mov.u64 %p, room;\n"
                                "    ld.param.u64 %n, [at];\n"
                                "    add.u64 %p, %p, %n;\n"
                                "    mov.u32 %v, 7;\n"
                                "    st.volatile.local.u32 [%p], %v;\n"
                                "    ld.volatile.local.u32 %v, [%p];\n"
                                "    ret;\n"
                                "}\n";

static const char heap_ptx[] = ".version 7.0\n"
                               ".target sm_52\n"
                               ".address_size 64\n"
                               ".extern .func (.param .b64 result) malloc (.param .b64 bytes);\n"
                               ".visible .entry take(.param .u64 count, .param .u64 answer)\n"
                               "{\n"
                               "    .reg .b64 %n, %p, %a;\n"
                               "    ld.param.u64 %n, [count];\n"
                               "    ld.param.u64 %a, [answer];\n"
                               "    {\n"
                               "    .param .b64 bytes;\n"
                               "    .param .b64 result;\n"
                               "    st.param.b64 [bytes], %n;\n"
                               "    call.uni (result), malloc, (bytes);\n"
                               "    ld.param.b64 %p, [result];\n"
                               "    }\n"
                               "    st.global.u64 [%a], %p;\n"
                               "    ret;\n"
                               "}\n";

static const char *const limit_names[] = {"stack", "printf", "heap"};

static void say_limits(void)
{
    for (int limit = CU_LIMIT_STACK_SIZE; limit <= CU_LIMIT_MALLOC_HEAP_SIZE; limit++) {
        size_t value = 0;
        TRY(cuCtxGetLimit(&value, (CUlimit)limit));
        say("%s %zu, ", limit_names[limit], value);
    }
    step("now");
}

static void ask_local(void)
{
    CUmodule module = NULL;
    CUfunction locals = NULL;
    uint64_t at = 0;
    void *params[] = {&at};
    begin();
    say_limits();
    TRY(cuModuleLoadData(&module, local_ptx));
    TRY(cuModuleGetFunction(&locals, module, "locals"));
    step("a kernel with 64 KB of local memory loaded");
    TRY(cuLaunchKernel(locals, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    settle();
    step("launched");
    say_limits();
    TRY(cuModuleUnload(module));
    step("unloaded");
    TRY(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
    step("the stack limit set to 1024");
    TRY(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 32 * KB));
    step("the stack limit set to 32 KB");
    CUfunction empty = load_kernel("empty", &module);
    TRY(launch(empty, NULL));
    settle();
    step("an empty kernel launched");
    say_limits();
}

static void ask_heap(void)
{
    CUmodule module = NULL;
    CUfunction take = NULL;
    CUdeviceptr answer = 0;
    uint64_t bytes = MB;
    void *params[] = {&bytes, &answer};
    begin();
    answer = device_block();
    step("a block");
    TRY(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 256 * MB));
    step("the heap limit set to 256 MB");
    TRY(cuModuleLoadData(&module, heap_ptx));
    step("a module with malloc loaded");
    TRY(cuModuleGetFunction(&take, module, "take"));
    step("its function asked for");
    unsigned count = 0;
    uint64_t got = 1, kept = 0;
    for (; got && count < 1000; count++) {
        TRY(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
        TRY(cuMemcpyDtoH(&got, answer, sizeof got));
        if (count == 0) {
            step("1 MB taken");
            kept = got;
        }
    }
    say("of 256 MB it gives %u blocks of 1 MB\n", count - 1);
    say("cuMemFree of a block of the heap's: %d\n", (int)cuMemFree(kept));
    TRY(cuModuleUnload(module));
    step("unloaded");
}

/* What it costs to give the heap's limit the value that it has, and whether that waits for a
 * kernel. */
static void ask_same_limit(const char *when, CUfunction spin)
{
    size_t value = 0;
    CUresult result = CUDA_SUCCESS;
    TRY(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    double idle_ns = NS_EACH(1000, result = cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, value));
    double get_ns = NS_EACH(1000, cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    launch_spin(spin, NULL, 200);
    uint64_t begin_ns = now_ns();
    CUresult busy = cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, value);
    double busy_ms = ms_since(begin_ns);
    settle();
    say("%s: the value in force (%zu): %d, %.0f ns, to ask for it %.0f ns; beside a kernel of 200 "
        "ms: %d after %.3f ms\n",
        when, value, (int)result, idle_ns, get_ns, (int)busy, busy_ms);
}

/* Behind each step the library may ask whether the size of the heap is fixed. */
static void ask_fixed(void)
{
    CUmodule module = NULL, spin_module = NULL;
    CUfunction take = NULL;
    uint64_t bytes = 1024;
    begin();
    CUdeviceptr answer = device_block();
    CUfunction spin = load_kernel("spin", &spin_module);
    void *params[] = {&bytes, &answer};
    ask_same_limit("before a module with malloc", spin);
    TRY(cuModuleLoadData(&module, heap_ptx));
    TRY(cuModuleGetFunction(&take, module, "take"));
    ask_same_limit("its function is known", spin);
    TRY(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ask_same_limit("launched", spin);
    TRY(cuDevicePrimaryCtxReset(device));
    TRY(enter_primary());
    CUfunction again = load_kernel("spin", &spin_module);
    ask_same_limit("behind a reset", again);
}

static size_t show_log(const char *path, size_t from, const char *when)
{
    char line[512] = "";
    FILE *file = fopen(path, "r");
    if (!file) {
        say("%s: no log\n", when);
        return 0;
    }
    fseek(file, (long)from, SEEK_SET);
    size_t lines = 0;
    for (; fgets(line, sizeof line, file); lines++)
        say("%s: %.200s%s", when, line, strchr(line, '\n') ? "" : "\n");
    from = (size_t)ftell(file);
    fclose(file);
    if (lines == 0)
        say("%s: nothing\n", when);
    return from;
}

/* Does the log that CUDA_LOG_FILE names tell of a limit that is refused? */
static void ask_log(void)
{
    char path[] = "/tmp/probe_memory.XXXXXX";
    CUmodule module = NULL;
    CUfunction take = NULL;
    uint64_t bytes = 1024;
    size_t value = 0, at = 0;
    close(mkstemp(path));
    setenv("CUDA_LOG_FILE", path, 1);
    begin();
    CUdeviceptr answer = device_block();
    void *params[] = {&bytes, &answer};
    TRY(cuModuleLoadData(&module, heap_ptx));
    TRY(cuModuleGetFunction(&take, module, "take"));
    TRY(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    say("the value in force, before: %d\n", (int)cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, value));
    at = show_log(path, at, "before");
    TRY(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    settle();
    say("behind a launch: %d\n", (int)cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, value));
    show_log(path, at, "behind");
    unlink(path);
}

static const struct question questions[] = {
    {.name = "contexts", .ask = ask_contexts}, {.name = "steps", .ask = ask_steps},
    {.name = "blocks", .ask = ask_blocks},     {.name = "local", .ask = ask_local},
    {.name = "heap", .ask = ask_heap},         {.name = "fixed", .ask = ask_fixed},
    {.name = "log", .ask = ask_log},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_memory",
        .questions = questions,
        .count = COUNT(questions),
        .question_s = 15,
        .in_sections = true,
    };

    return ask_all(&inquiry, argc, argv);
}
