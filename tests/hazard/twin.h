/* What every twin shares: checked calls, byte patterns, a busy stream and the last line.
 *
 * A twin is one program of two names: NAME.racy makes one mistake that the library must report and
 * heal, NAME.fixed does the same with the mistake mended and must stay silent. Its last line on
 * stdout is "data right" or "data wrong"; it exits 0 either way, and 3 if a call that the twin
 * needs fails. Everything here is single-threaded unless it says otherwise.
 */
#ifndef SC_TESTS_HAZARD_TWIN_H
#define SC_TESTS_HAZARD_TWIN_H

#include "tests/patience.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TWIN_UNUSED __attribute__((unused))

/* Which of the two it is, known before anything else of the program runs. */
static bool fixed TWIN_UNUSED;

__attribute__((constructor(101))) static void twin_read_name(void)
{
    const char *ending = strrchr(program_invocation_short_name, '.');
    if (!ending || (strcmp(ending, ".racy") && strcmp(ending, ".fixed"))) {
        fprintf(stderr, "a twin is run as NAME.racy or NAME.fixed\n");
        _exit(3);
    }
    fixed = !strcmp(ending, ".fixed");
}

/* Out of line, so that the compiler cannot reason about who reads a freed block. */
#define TWIN_HELPER __attribute__((unused, noinline))

/* 64 KB: above the size that is snapshotted, below the one where glibc's free() unmaps.
 * 1 MB: pageable batch copies read late from here on, and free() unmaps. */
static const size_t SMALL TWIN_UNUSED = (size_t)64 << 10;
static const size_t LARGE TWIN_UNUSED = (size_t)1 << 20;

/* Seeds of the two patterns: what the copy carries, and what the memory's next owner writes. */
enum { WANTED = 17, FOREIGN = 99 };

/* How long busy() keeps its stream: long against every call that follows it, also on a loaded
 * machine where the library's own thread has to come and see that the copy is still running, since
 * it is the time of threads that are not held up (tests/patience.h). DONE_US: by then what busy()
 * held up is complete. */
enum { BUSY_US = 100000, DONE_US = 3 * BUSY_US };

#define CHECK(call) twin_check((int)(call), #call, __FILE__, __LINE__)

static TWIN_HELPER void twin_check(int result, const char *call, const char *file, int line)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s:%d: %s returned %d\n", file, line, call, result);
    exit(3);
}

static TWIN_HELPER void fill(void *memory, size_t size_bytes, unsigned seed)
{
    unsigned char *bytes = (unsigned char *)memory;
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (unsigned char)(seed + i * 31 + (i >> 8));
}

static TWIN_HELPER bool holds(const void *memory, size_t size_bytes, unsigned seed)
{
    const unsigned char *bytes = (const unsigned char *)memory;
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] != (unsigned char)(seed + i * 31 + (i >> 8)))
            return false;
    }
    return true;
}

static TWIN_HELPER void *filled_block(size_t size_bytes, unsigned seed)
{
    void *block = malloc(size_bytes);
    if (!block)
        exit(3);
    fill(block, size_bytes, seed);
    return block;
}

/* Filled, and with room behind it, so that no two such blocks have a page in common: a page may be
 * registered only once. */
static TWIN_HELPER void *separate_block(size_t size_bytes, unsigned seed)
{
    static void *volatile room;
    void *block = filled_block(size_bytes, seed);
    room = malloc(2 * 4096);
    return room ? block : NULL;
}

/* malloc'ed, filled and registered: the memory that no free() waits for. */
static TWIN_HELPER void *registered_block(size_t size_bytes, unsigned seed)
{
    void *block = separate_block(size_bytes, seed);
    CHECK(cudaHostRegister(block, size_bytes, cudaHostRegisterDefault));
    return block;
}

static TWIN_HELPER void *pinned_block(size_t size_bytes, unsigned seed)
{
    void *block = NULL;
    CHECK(cudaMallocHost(&block, size_bytes));
    fill(block, size_bytes, seed);
    return block;
}

/* Device memory that holds the pattern of `seed`; nothing is in flight on return. */
static TWIN_HELPER void *device_block(size_t size_bytes, unsigned seed)
{
    void *device = NULL;
    void *image = filled_block(size_bytes, seed);
    CHECK(cudaMalloc(&device, size_bytes));
    CHECK(cudaMemcpy(device, image, size_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    free(image);
    return device;
}

/* Memory to look at a result in, for one thread. It lies where neither malloc nor mmap may put a
 * block: the driver would take one in the place of what was freed while registered for that. */
static TWIN_HELPER void *image_of(size_t size_bytes)
{
    static unsigned char image[64 << 20] __attribute__((aligned(4096)));
    if (size_bytes > sizeof image)
        exit(3);
    return image;
}

static TWIN_HELPER bool device_holds(const void *device, size_t size_bytes, unsigned seed)
{
    void *image = image_of(size_bytes);
    CHECK(cudaMemcpy(image, device, size_bytes, cudaMemcpyDeviceToHost));
    return holds(image, size_bytes, seed);
}

static TWIN_HELPER cudaStream_t new_stream(void)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* What new_stream() makes is not blocking. */
static TWIN_HELPER cudaStream_t blocking_stream(void)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreate(&stream));
    return stream;
}

static TWIN_HELPER cudaEvent_t new_event(void)
{
    cudaEvent_t event = NULL;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

/* Runs in the stream, on a thread of the driver. */
static TWIN_HELPER void sleep_in_stream(void *unused)
{
    (void)unused;
    sleep_patiently(BUSY_US);
}

/* Holds the stream up, so that what is issued next on it is in flight for BUSY_US. Statically
 * inline rather than a helper: it must call the variant of the API that the twin is built for. */
static inline void busy(cudaStream_t stream)
{
    CHECK(cudaLaunchHostFunc(stream, sleep_in_stream, NULL));
}

static TWIN_HELPER int finish(bool right)
{
    puts(right ? "data right" : "data wrong");
    return 0;
}

#endif
