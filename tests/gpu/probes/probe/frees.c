/* Frees, unregistrations and ends of contexts: whom they wait for, what they answer. */
#include "world.h"

#include "../../asking_calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Q7: does a free that waits hold up other threads? ---- */

static void *fresh_block;

#define BESIDES(X)                                                                                 \
    X(pinned, "HtoDAsync pinned", NONE, cuMemcpyHtoDAsync(dev_a, pinned, 4 * KB, nonblocking2))    \
    X(pageable, "HtoDAsync pageable", NONE,                                                        \
      cuMemcpyHtoDAsync(dev_a, pageable, 4 * KB, nonblocking2))                                    \
    X(record, "EventRecord", NONE, cuEventRecord(event, nonblocking2))                             \
    X(event_query, "EventQuery", NONE, cuEventQuery(event))                                        \
    X(stream_query, "StreamQuery", NONE, cuStreamQuery(nonblocking2))                              \
    X(alloc, "MemHostAlloc", NONE, cuMemHostAlloc(&fresh_block, 64 * KB, 0))                       \
    X(wait_event, "StreamWaitEvent", NONE, cuStreamWaitEvent(nonblocking2, event, 0))
BESIDES(DEFINE_CALL)
static const struct call besides[] = {BESIDES(LIST_CALL)};

struct release {
    CUresult (*call)(void *);
    void *block;
    atomic_bool over;
};

static void *run_release(void *p)
{
    struct release *release = p;

    cuCtxSetCurrent(primary);
    if (release->block)
        release->call(release->block);
    atomic_store(&release->over, true);
    return NULL;
}

static void call_beside(struct release *release, const struct call *beside)
{
    pthread_t thread;

    atomic_store(&release->over, false);
    launch_spin(spin_kernel, nonblocking, 300);
    if (pthread_create(&thread, NULL, run_release, release) != 0)
        return;
    sleep_ms(50);
    bool waits = !atomic_load(&release->over);
    uint64_t start = now_ns();
    CUresult rc = beside->call();
    double took = ms_since(start);
    say(" %s %.3f %s", beside->name, took,
        !waits                         ? "(the free did not wait)"
        : !atomic_load(&release->over) ? "at once"
                                       : "BLOCKED");
    if (rc != CUDA_SUCCESS)
        say("=%d", (int)rc);
    pthread_join(thread, NULL);
    settle();
}

void q7(void)
{
    say(" beside cuMemFreeHost:");
    for (size_t i = 0; i < COUNT(besides); i++) {
        struct release release = {.call = cuMemFreeHost};
        TRY(cuMemAllocHost(&release.block, 64 * KB));
        call_beside(&release, &besides[i]);
    }
    say("; beside cuMemHostUnregister:");
    for (size_t i = 0; i < COUNT(besides); i++) {
        struct release release = {.call = cuMemHostUnregister, .block = map_pages(64 * KB)};
        TRY(cuMemHostRegister(release.block, 64 * KB, 0));
        call_beside(&release, &besides[i]);
        unmap_pages(release.block, 64 * KB);
    }
}

/* ---- Q12: whom do the implicit waits wait for? ---- */

struct elsewhere {
    CUcontext context;
    CUfunction spin;
    CUstream stream;
};

/* A second context of the same device, left not current. */
static struct elsewhere open_elsewhere(void)
{
    struct elsewhere other = {NULL, NULL, NULL};
    CUcontext popped;

    if (TRY(cuCtxCreate(&other.context, NULL, 0, device)) != CUDA_SUCCESS)
        return other;
    other.spin = load_spin();
    TRY(cuStreamCreate(&other.stream, CU_STREAM_NON_BLOCKING));
    launch_spin(other.spin, other.stream, 1);
    TRY(cuCtxSynchronize());
    TRY(cuCtxPopCurrent(&popped));
    return other;
}

static void occupy_elsewhere(struct elsewhere *other, enum work work)
{
    CUcontext popped;

    if (TRY(cuCtxPushCurrent(other->context)) != CUDA_SUCCESS)
        return;
    if (work == KERNEL)
        launch_spin(other->spin, other->stream, BUSY_MS);
    else
        occupy(HOST, other->stream, BUSY_MS);
    TRY(cuCtxPopCurrent(&popped));
}

static void settle_elsewhere(struct elsewhere *other)
{
    CUcontext popped;

    if (TRY(cuCtxPushCurrent(other->context)) != CUDA_SUCCESS)
        return;
    TRY(cuCtxSynchronize());
    TRY(cuCtxPopCurrent(&popped));
}

enum { FREE_PLAIN, FREE_PORTABLE, UNREGISTER, RELEASES };
static const char *const release_names[RELEASES] = {"FreeHost", "FreeHost portable",
                                                    "HostUnregister"};

/* One release, beside work in another context when there is one, else on the non-blocking stream.
 */
static void release_beside(int how, enum work work, struct elsewhere *other)
{
    void *block = how == UNREGISTER ? map_pages(64 * KB) : NULL;
    CUresult rc = how == UNREGISTER
                      ? TRY(cuMemHostRegister(block, 64 * KB, 0))
                      : TRY(cuMemHostAlloc(&block, 64 * KB,
                                           how == FREE_PORTABLE ? CU_MEMHOSTALLOC_PORTABLE : 0));

    if (rc != CUDA_SUCCESS)
        return;
    if (other)
        occupy_elsewhere(other, work);
    else
        occupy(work, nonblocking, BUSY_MS);
    say(" %s %.3f", release_names[how],
        how == UNREGISTER ? MS(cuMemHostUnregister(block)) : MS(cuMemFreeHost(block)));
    settle();
    if (other)
        settle_elsewhere(other);
    if (how == UNREGISTER)
        unmap_pages(block, 64 * KB);
}

void q12(void)
{
    struct elsewhere other = open_elsewhere();

    for (enum work work = KERNEL; work < WORKS; work++) {
        say(" N busy, %s:", work_names[work]);
        for (int how = 0; how < RELEASES; how++)
            release_beside(how, work, NULL);
        say(";");
        if (!other.context)
            continue;
        say(" other context busy, %s:", work_names[work]);
        for (int how = 0; how < RELEASES; how++)
            release_beside(how, work, &other);
        say(";");
    }
    if (other.context)
        TRY(cuCtxDestroy(other.context));
}

/* ---- Q13: contexts destroyed with work pending ---- */

static atomic_bool host_function_ran;

static void CUDA_CB mark_ran(void *unused)
{
    (void)unused;
    atomic_store(&host_function_ran, true);
}

/* 200 ms of work in the current context, then a copy into `landing`, then a host function. */
static void queue_pending(CUfunction spin, CUstream stream, unsigned char *landing)
{
    CUdeviceptr source = 0;

    atomic_store(&host_function_ran, false);
    landing[0] = 0;
    TRY(cuMemAlloc(&source, 4 * KB));
    TRY(cuMemsetD8(source, 0xab, 4 * KB));
    TRY(cuCtxSynchronize());
    launch_spin(spin, stream, 200);
    TRY(cuMemcpyDtoHAsync(landing, source, 4 * KB, stream));
    TRY(cuLaunchHostFunc(stream, mark_ran, NULL));
}

static void say_pending(const char *name, double took_ms, volatile unsigned char *landing)
{
    bool landed = landing[0] == 0xab, ran = atomic_load(&host_function_ran);

    sleep_ms(300);
    say(" %s took %.1f, on return copy %s and host function %s, 300 ms later copy %s and host "
        "function %s;",
        name, took_ms, landed ? "landed" : "NOT", ran ? "ran" : "NOT",
        landing[0] == 0xab ? "landed" : "NOT", atomic_load(&host_function_ran) ? "ran" : "NOT");
}

/* The landing page is registered memory: it stays mapped whatever becomes of the context. */
void q13(void)
{
    unsigned char *landing = map_pages(4 * KB), *landing2 = map_pages(4 * KB);
    struct elsewhere other = open_elsewhere();
    CUcontext popped;

    if (!landing || !landing2)
        return;
    if (other.context && TRY(cuCtxPushCurrent(other.context)) == CUDA_SUCCESS) {
        TRY(cuMemHostRegister(landing, 4 * KB, CU_MEMHOSTREGISTER_PORTABLE));
        queue_pending(other.spin, other.stream, landing);
        TRY(cuCtxPopCurrent(&popped));
        double took = MS(cuCtxDestroy(other.context));
        say_pending("cuCtxDestroy", took, landing);
    }

    TRY(cuMemHostRegister(landing2, 4 * KB, 0));
    queue_pending(spin_kernel, nonblocking, landing2);
    double took = MS(cuDevicePrimaryCtxReset(device));
    say_pending("cuDevicePrimaryCtxReset", took, landing2);
    say(" cuCtxSynchronize afterwards %d", (int)cuCtxSynchronize());
}

/* ---- Q18, Q19: registrations and frees ---- */

static void register_codes(unsigned char *pages)
{
    say(" register %d", (int)cuMemHostRegister(pages, 8 * KB, 0));
    say(", same again %d", (int)cuMemHostRegister(pages, 8 * KB, 0));
    say(", overlapping %d", (int)cuMemHostRegister(pages + 4 * KB, 8 * KB, 0));
    say(", inside %d", (int)cuMemHostRegister(pages + 4 * KB, 4 * KB, 0));
    say(", adjacent %d", (int)cuMemHostRegister(pages + 8 * KB, 4 * KB, 0));
    say(", unregister by an inner address %d", (int)cuMemHostUnregister(pages + 4 * KB));
    say(", unregister %d", (int)cuMemHostUnregister(pages));
    say(", twice %d", (int)cuMemHostUnregister(pages));
    say(", the adjacent %d", (int)cuMemHostUnregister(pages + 8 * KB));

    unsigned char *shared = pages + 16 * KB;
    say("; 64 B at 0 of a page %d", (int)cuMemHostRegister(shared, 64, 0));
    say(", 64 B at 1024 of it %d", (int)cuMemHostRegister(shared + 1024, 64, 0));
    say(", unregister first %d", (int)cuMemHostUnregister(shared));
    say(", second %d", (int)cuMemHostUnregister(shared + 1024));
}

static void free_codes(unsigned char *pages)
{
    void *block = NULL;

    TRY(cuMemHostRegister(pages, 4 * KB, 0));
    say("; FreeHost of registered %d", (int)cuMemFreeHost(pages));
    say(", then unregister %d", (int)cuMemHostUnregister(pages));
    TRY(cuMemAllocHost(&block, 8 * KB));
    say("; HostRegister of pinned %d", (int)cuMemHostRegister(block, 4 * KB, 0));
    say(", HostUnregister of pinned %d", (int)cuMemHostUnregister(block));
    say(", FreeHost of an inner address %d", (int)cuMemFreeHost((char *)block + 4 * KB));
    say(", FreeHost %d", (int)cuMemFreeHost(block));
    say(", twice %d", (int)cuMemFreeHost(block));
    say(", of pageable %d", (int)cuMemFreeHost(pageable));
    say(", of NULL %d", (int)cuMemFreeHost(NULL));
    say("; Unregister of pageable %d", (int)cuMemHostUnregister(pageable));
    say(", of NULL %d", (int)cuMemHostUnregister(NULL));
}

void q18(void)
{
    unsigned char *pages = map_pages(32 * KB);

    if (!pages)
        return;
    register_codes(pages);
    free_codes(pages);
    unmap_pages(pages, 32 * KB);
}

/* The executable's own free and munmap stand before libc's for whoever calls through the PLT. */
static atomic_bool counting;
static atomic_uint frees_seen, munmaps_seen;
static _Atomic(uintptr_t) munmap_watch, munmap_hits;

extern void __libc_free(void *block);

__attribute__((visibility("default"))) void free(void *block)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed) && block)
        atomic_fetch_add_explicit(&frees_seen, 1, memory_order_relaxed);
    __libc_free(block);
}

__attribute__((visibility("default"))) int munmap(void *address, size_t size_bytes)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed)) {
        uintptr_t watched = atomic_load(&munmap_watch);
        atomic_fetch_add_explicit(&munmaps_seen, 1, memory_order_relaxed);
        if (watched - (uintptr_t)address < size_bytes)
            atomic_fetch_add(&munmap_hits, 1);
    }
    return (int)syscall(SYS_munmap, address, size_bytes);
}

static void count_from_here(void *watched)
{
    atomic_store(&frees_seen, 0);
    atomic_store(&munmaps_seen, 0);
    atomic_store(&munmap_hits, 0);
    atomic_store(&munmap_watch, (uintptr_t)watched);
    atomic_store(&counting, true);
}

static void say_counts(const char *label, CUresult rc)
{
    atomic_store(&counting, false);
    say(" %s free %u munmap %u (over the block %u)", label, atomic_load(&frees_seen),
        atomic_load(&munmaps_seen), (unsigned)atomic_load(&munmap_hits));
    if (rc != CUDA_SUCCESS)
        say(" result %d", (int)rc);
    say(";");
}

static bool is_interposed(const char *name, const void *own)
{
    return dlsym(RTLD_DEFAULT, name) == own;
}

void q19(void)
{
    static const size_t sizes[] = {4 * KB, 4 * MB};

    say(" interposers in force: %s;", is_interposed("free", (void *)(uintptr_t)free) &&
                                              is_interposed("munmap", (void *)(uintptr_t)munmap)
                                          ? "yes"
                                          : "NO");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        void *block = NULL, *mapped = map_pages(sizes[i]);

        TRY(cuMemAllocHost(&block, sizes[i]));
        count_from_here(block);
        CUresult rc = cuMemFreeHost(block);
        say_counts(i == 0 ? "FreeHost 4K" : "FreeHost 4M", rc);
        if (!mapped)
            continue;
        count_from_here(mapped);
        rc = cuMemHostRegister(mapped, sizes[i], 0);
        say_counts(i == 0 ? "Register 4K" : "Register 4M", rc);
        count_from_here(mapped);
        rc = cuMemHostUnregister(mapped);
        say_counts(i == 0 ? "Unregister 4K" : "Unregister 4M", rc);
        unmap_pages(mapped, sizes[i]);
    }
}
