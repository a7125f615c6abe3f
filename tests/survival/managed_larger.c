// needs: sim (it asks for more than a small card has)
//
// Managed arrays, together larger than a device or not, used in the ways that its argument says. It
// behaves with the library as without it; what is told of the arrays, tests/unit/test_managed.py
// looks at (SIM_GPU=devices=4:device_memory=1G).
#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult error_ = (call);                                                                  \
        if (error_ != CUDA_SUCCESS) {                                                              \
            printf("%s -> %d\n", #call, (int)error_);                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MB = 1 << 20, LARGE = 768, SMALL = 400, USED = 1 << 12 };

static CUcontext contexts[4];
static CUstream stream;
static bool is_hosts; /* the first array */

static __attribute__((noinline)) CUdeviceptr make_first(size_t mb)
{
    CUdeviceptr array = 0;
    CHECK(cuMemAllocManaged(&array, mb * MB, is_hosts ? CU_MEM_ATTACH_HOST : CU_MEM_ATTACH_GLOBAL));
    return array;
}

static __attribute__((noinline)) CUdeviceptr make_second(size_t mb)
{
    CUdeviceptr array = 1;
    CHECK(cuMemAllocManaged(&array, mb * MB, CU_MEM_ATTACH_GLOBAL));
    return array;
}

static void use(CUdeviceptr from, CUdeviceptr to)
{
    memset((void *)from, 7, USED);
    CHECK(cuMemcpyAsync(to, from, USED, stream));
    CHECK(cuStreamSynchronize(stream));
}

static CUmemLocation place(CUdevice device)
{
    return device < 0 ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
                      : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

static void prefetch(CUdeviceptr array, size_t mb, CUdevice device)
{
    CHECK(cuMemPrefetchAsync_v2(array, mb * MB, place(device), 0, stream));
}

static void prefer(CUdeviceptr array, size_t mb, CUdevice device)
{
    CHECK(cuMemAdvise_v2(array, mb * MB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place(device)));
}

/* touch_bytes(address, count): the device touches each page, from the first to the last. */
static const char touching[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry touch_bytes(.param .u64 base, .param .u64 count)\n{\n"
    "    .reg .pred %p;\n    .reg .b64 %a, %e;\n    .reg .b32 %v;\n"
    "    ld.param.u64 %a, [base];\n    ld.param.u64 %e, [count];\n    add.u64 %e, %e, %a;\n"
    "again:\n    ld.global.u32 %v, [%a];\n    st.global.u32 [%a], %v;\n"
    "    add.u64 %a, %a, 4096;\n    setp.lt.u64 %p, %a, %e;\n    @%p bra again;\n    ret;\n}\n";

static void touch(CUdeviceptr array, size_t bytes, int device)
{
    CUmodule module;
    CUfunction function;
    void *parameters[] = {&array, &bytes};
    if (!contexts[device])
        CHECK(cuDevicePrimaryCtxRetain(&contexts[device], device));
    CHECK(cuCtxPushCurrent(contexts[device]));
    CHECK(cuModuleLoadData(&module, touching));
    CHECK(cuModuleGetFunction(&function, module, "touch_bytes"));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxPopCurrent(NULL));
}

/* "touch_WHICH": by the device that has not allocated them, by each of four a quarter, or a page of
 * each when one that was too large for what others leave of the device is gone. */
static void touch_as(const char *which, CUdeviceptr first, CUdeviceptr second, size_t bytes)
{
    if (strcmp(which, "elsewhere") == 0) {
        touch(first, bytes, 1);
        touch(second, bytes, 1);
    } else if (strcmp(which, "parts") == 0) {
        for (int i = 0; i < 4; i++) {
            touch(first + i * (bytes / 4), bytes / 4, i);
            touch(second + i * (bytes / 4), bytes / 4, i);
        }
    } else if (strcmp(which, "one") == 0) {
        touch(first, bytes, 1);
        touch(first, bytes, 0);
        touch(first, bytes, 1);
    } else if (strcmp(which, "pages") == 0) {
        CUdeviceptr before = make_first(LARGE);
        touch(before, (size_t)LARGE * MB, 0);
        CHECK(cuMemFree(before));
        touch(first, USED, 0);
        touch(second + bytes / 2, USED, 0);
    } else if (strcmp(which, "to_and_fro") == 0) {
        for (int i = 0; i < 8; i++)
            touch(first, 4 * MB, i % 2);
    }
}

static void prefetch_batch(CUdeviceptr first, CUdeviceptr second, size_t mb, int second_device)
{
    CUdeviceptr arrays[] = {first, second};
    size_t sizes[] = {mb * MB, mb * MB}, from[] = {0, 1};
    CUmemLocation places[] = {place(0), place(second_device)};
    CHECK(cuMemPrefetchBatchAsync(arrays, sizes, 2, places, from, 2, 0, stream));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    size_t mb = argc > 2 && strcmp(argv[2], "small") == 0 ? SMALL : LARGE;
    is_hosts = strcmp(how, "for_host") == 0;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&contexts[0], 0));
    CHECK(cuCtxSetCurrent(contexts[0]));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (strcmp(how, "other_made") == 0)
        CHECK(cuDevicePrimaryCtxRetain(&contexts[1], 1));
    if (strcmp(how, "other_context") == 0) {
        CHECK(cuDevicePrimaryCtxRetain(&contexts[1], 1));
        CHECK(cuCtxPushCurrent(contexts[1]));
        CUdeviceptr there;
        CHECK(cuMemAlloc(&there, USED));
        CHECK(cuMemFree(there));
        CHECK(cuCtxPopCurrent(NULL));
    }
    CUdeviceptr first = make_first(mb), second = 0;
    if (strcmp(how, "in_turn") == 0) { /* never both at a time */
        CHECK(cuMemFree(first));
        first = make_second(mb);
        CHECK(cuMemFree(first));
        puts("done");
        return 0;
    }
    second = make_second(mb);
    if (strcmp(how, "prefetch") == 0) {
        prefetch(first, mb, 0);
        prefetch(second, mb, 0);
    } else if (strcmp(how, "two_devices") == 0) { /* by the same calls */
        for (int i = 0; i < argc; i++) {
            prefetch(first, mb, i);
            prefetch(second, mb, i);
        }
    } else if (strcmp(how, "moved") == 0) { /* the first one makes room */
        prefetch(first, mb, 0);
        prefetch(first, mb, CU_DEVICE_CPU);
        prefetch(second, mb, 0);
    } else if (strcmp(how, "discard") == 0) { /* the first one lies nowhere then */
        size_t bytes = mb * MB;
        prefetch(first, mb, 0);
        CHECK(cuMemDiscardBatchAsync(&first, &bytes, 1, 0, stream));
        prefetch(second, mb, 0);
    } else if (strcmp(how, "batch") == 0) {
        prefetch_batch(first, second, mb, 0);
    } else if (strcmp(how, "batch_apart") == 0) {
        prefetch_batch(first, second, mb, 1);
    } else if (strcmp(how, "prefer") == 0) {
        prefer(first, mb, 0);
        prefer(second, mb, 0);
    } else if (strcmp(how, "prefer_apart") == 0) {
        prefer(first, mb, 0);
        prefer(second, mb, 1);
    } else if (strcmp(how, "prefer_parts") == 0) { /* a quarter of each array on each device */
        for (int i = 0; i < 4; i++) {
            prefer(first + (CUdeviceptr)i * (mb / 4) * MB, mb / 4, i);
            prefer(second + (CUdeviceptr)i * (mb / 4) * MB, mb / 4, i);
        }
    } else if (strcmp(how, "prefer_kept") == 0) {
        prefer(first, mb, 1);
        prefer(second, mb, CU_DEVICE_CPU);
    } else if (strcmp(how, "prefer_host") == 0) {
        prefer(second, mb, CU_DEVICE_CPU);
    } else if (strcmp(how, "unset") == 0) {
        prefer(second, mb, 1);
        CHECK(cuMemAdvise_v2(second, mb * MB, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, place(0)));
    } else if (strcmp(how, "tiles") == 0) { /* each tile comes and goes */
        for (size_t at = 0; at < 2 * mb; at += 16) {
            CUdeviceptr tile = (at < mb ? first : second) + (at % mb) * MB;
            prefetch(tile, 16, 0);
            prefetch(tile, 16, CU_DEVICE_CPU);
        }
    }
    if (strncmp(how, "touch_", 6) == 0)
        touch_as(how + 6, first, second, mb * MB);
    use(first, second);
    if (strcmp(how, "reset") == 0) {
        CHECK(cuDevicePrimaryCtxReset(0));
    } else if (!strstr(how, "kept")) {
        CHECK(cuMemFree(first));
        CHECK(cuMemFree(second));
    }
    puts("done");
    return 0;
}
