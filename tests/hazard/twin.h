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

/* Out of line, so that the compiler cannot reason about who reads a freed block. */
#define TWIN_HELPER __attribute__((unused, noinline))

/* With TWIN_LINKED a program is linked with what is shared (twin.c); else it compiles that. */
#ifdef TWIN_LINKED
#define TWIN_SHARED __attribute__((noinline))
extern bool fixed;
#else
#define TWIN_SHARED static TWIN_HELPER
static bool fixed TWIN_UNUSED; /* which of the two it is, known before anything else runs */
#endif

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

TWIN_SHARED void twin_check(int result, const char *call, const char *file, int line);
TWIN_SHARED void fill(void *memory, size_t size_bytes, unsigned seed);
TWIN_SHARED bool holds(const void *memory, size_t size_bytes, unsigned seed);
TWIN_SHARED void *filled_block(size_t size_bytes, unsigned seed);

/* Filled, and with room behind it, so that no two such blocks have a page in common: a page may be
 * registered only once. */
TWIN_SHARED void *separate_block(size_t size_bytes, unsigned seed);

/* malloc'ed, filled and registered: the memory that no free() waits for. */
TWIN_SHARED void *registered_block(size_t size_bytes, unsigned seed);

TWIN_SHARED void *pinned_block(size_t size_bytes, unsigned seed);

/* Device memory that holds the pattern of `seed`; nothing is in flight on return. */
TWIN_SHARED void *device_block(size_t size_bytes, unsigned seed);

/* Memory to look at a result in, for one thread. It lies where neither malloc nor mmap may put a
 * block: the driver would take one in the place of what was freed while registered for that. */
TWIN_SHARED void *image_of(size_t size_bytes);

TWIN_SHARED bool device_holds(const void *device, size_t size_bytes, unsigned seed);
TWIN_SHARED cudaStream_t new_stream(void);

/* What new_stream() makes is not blocking. */
TWIN_SHARED cudaStream_t blocking_stream(void);

TWIN_SHARED cudaEvent_t new_event(void);

/* Runs in the stream, on a thread of the driver. */
TWIN_SHARED void sleep_in_stream(void *unused);

/* With TWIN_BUSY=copy in the environment a copy of its own holds the stream, and with
 * TWIN_BUSY=kernel a kernel: what the simulated GPU copies late is in flight all the same, behind
 * another kind of work. */
struct twin_hold {
    void *device, *source; /* NULL: a host function or a kernel holds it */
};
enum { TWIN_HOLDS = 64 }; /* each to a place of its own: streams are held that nothing orders */
TWIN_SHARED struct twin_hold twin_next_hold(void);

/* Has a kernel hold the stream, if the environment wants that. `launch` is cuLaunchKernel or its
 * variant. */
TWIN_SHARED bool twin_held_by_kernel(cudaStream_t stream, const char *launch);
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define TWIN_LAUNCH "cuLaunchKernel_ptsz"
#else
#define TWIN_LAUNCH "cuLaunchKernel"
#endif

TWIN_SHARED int finish(bool right);

/* Holds the stream up, so that what is issued next on it is in flight for BUSY_US. Statically
 * inline rather than a helper: it must call the variant of the API that the twin is built for. */
static inline void busy(cudaStream_t stream)
{
    struct twin_hold hold = twin_next_hold();
    if (hold.source)
        CHECK(cudaMemcpyAsync(hold.device, hold.source, SMALL, cudaMemcpyHostToDevice, stream));
    else if (!twin_held_by_kernel(stream, TWIN_LAUNCH))
        CHECK(cudaLaunchHostFunc(stream, sleep_in_stream, NULL));
}

#ifndef TWIN_LINKED
#include "twin_helpers.h"
#endif

#endif
