/* The functions of twin.h: compiled with each program, or once for all (twin.c). */
#ifndef SC_TESTS_HAZARD_TWIN_HELPERS_H
#define SC_TESTS_HAZARD_TWIN_HELPERS_H

#include "twin.h"

#include "tests/spinning_kernel.h"

#include <dlfcn.h>

__attribute__((constructor(101))) static void twin_read_name(void)
{
    const char *ending = strrchr(program_invocation_short_name, '.');
    if (!ending || (strcmp(ending, ".racy") && strcmp(ending, ".fixed"))) {
        fprintf(stderr, "a twin is run as NAME.racy or NAME.fixed\n");
        _exit(3);
    }
    fixed = !strcmp(ending, ".fixed");
}

TWIN_SHARED void twin_check(int result, const char *call, const char *file, int line)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s:%d: %s returned %d\n", file, line, call, result);
    exit(3);
}

TWIN_SHARED void fill(void *memory, size_t size_bytes, unsigned seed)
{
    unsigned char *bytes = (unsigned char *)memory;
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (unsigned char)(seed + i * 31 + (i >> 8));
}

TWIN_SHARED bool holds(const void *memory, size_t size_bytes, unsigned seed)
{
    const unsigned char *bytes = (const unsigned char *)memory;
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] != (unsigned char)(seed + i * 31 + (i >> 8)))
            return false;
    }
    return true;
}

TWIN_SHARED void *filled_block(size_t size_bytes, unsigned seed)
{
    void *block = malloc(size_bytes);
    if (!block)
        exit(3);
    fill(block, size_bytes, seed);
    return block;
}

TWIN_SHARED void *separate_block(size_t size_bytes, unsigned seed)
{
    static void *volatile room;
    void *block = filled_block(size_bytes, seed);
    room = malloc(2 * 4096);
    return room ? block : NULL;
}

TWIN_SHARED void *registered_block(size_t size_bytes, unsigned seed)
{
    void *block = separate_block(size_bytes, seed);
    CHECK(cudaHostRegister(block, size_bytes, cudaHostRegisterDefault));
    return block;
}

TWIN_SHARED void *pinned_block(size_t size_bytes, unsigned seed)
{
    void *block = NULL;
    CHECK(cudaMallocHost(&block, size_bytes));
    fill(block, size_bytes, seed);
    return block;
}

TWIN_SHARED void *device_block(size_t size_bytes, unsigned seed)
{
    void *device = NULL;
    void *image = filled_block(size_bytes, seed);
    CHECK(cudaMalloc(&device, size_bytes));
    CHECK(cudaMemcpy(device, image, size_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    free(image);
    return device;
}

TWIN_SHARED void *image_of(size_t size_bytes)
{
    static unsigned char image[64 << 20] __attribute__((aligned(4096)));
    if (size_bytes > sizeof image)
        exit(3);
    return image;
}

TWIN_SHARED bool device_holds(const void *device, size_t size_bytes, unsigned seed)
{
    void *image = image_of(size_bytes);
    CHECK(cudaMemcpy(image, device, size_bytes, cudaMemcpyDeviceToHost));
    return holds(image, size_bytes, seed);
}

TWIN_SHARED cudaStream_t new_stream(void)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

TWIN_SHARED cudaStream_t blocking_stream(void)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreate(&stream));
    return stream;
}

TWIN_SHARED cudaEvent_t new_event(void)
{
    cudaEvent_t event = NULL;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

TWIN_SHARED void sleep_in_stream(void *unused)
{
    (void)unused;
    sleep_patiently(BUSY_US);
}

TWIN_SHARED struct twin_hold twin_next_hold(void)
{
    static char *devices;
    static void *source;
    static unsigned used;
    const char *wanted = getenv("TWIN_BUSY");
    if (!wanted || strcmp(wanted, "copy") != 0)
        return (struct twin_hold){NULL, NULL};
    if (!source) {
        devices = (char *)device_block(TWIN_HOLDS * SMALL, 0);
        source = pinned_block(SMALL, WANTED);
    }
    return (struct twin_hold){devices + used++ % TWIN_HOLDS * SMALL, source};
}

/* A twin need not be linked with the driver. */
static TWIN_HELPER void *twin_driver_function(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found ? found : dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
}

/* Of the current context, in which all that is held is held. */
static TWIN_HELPER void *twin_spin(void)
{
    static void *module, *spin;
    typedef int load_fn(void **, const void *);
    typedef int get_fn(void **, void *, const char *);
    if (!spin) {
        load_fn *load = (load_fn *)twin_driver_function("cuModuleLoadData");
        get_fn *get = (get_fn *)twin_driver_function("cuModuleGetFunction");
        CHECK(load(&module, spinning_kernel_text));
        CHECK(get(&spin, module, "spin"));
    }
    return spin;
}

TWIN_SHARED bool twin_held_by_kernel(cudaStream_t stream, const char *launch)
{
    typedef int launch_fn(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, cudaStream_t, void **, void **);
    const char *wanted = getenv("TWIN_BUSY");
    if (!wanted || strcmp(wanted, "kernel") != 0)
        return false;
    uint64_t held_ns = BUSY_US * 1000ULL;
    void *parameters[] = {&held_ns};
    void *spin = twin_spin();
    launch_fn *call = (launch_fn *)twin_driver_function(launch);
    CHECK(call(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    return true;
}

TWIN_SHARED int finish(bool right)
{
    puts(right ? "data right" : "data wrong");
    return 0;
}

#endif
