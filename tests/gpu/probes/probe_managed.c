/* probe_managed: asks the CUDA driver about managed memory: which calls wait for copies of it, and
 * what the host may do with its pages. When copies read it and write it is asked by
 * conformance_managed.c. The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probes/probe_managed.c \
 *         tests/gpu/asking.c -o probe_managed -ldl -lcuda
 *     ./probe_managed             every question, in seconds
 */
#include "../asking.h"

#include "../places.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BUSY_MS = 40 };

/* ---- frees and hints ---- */

static void keep_busy(void)
{
    TRY(cuLaunchHostFunc(w.stream, sleeper, (void *)(uintptr_t)BUSY_MS));
}

static CUdeviceptr managed_block(void)
{
    CUdeviceptr block = 0;
    TRY(cuMemAllocManaged(&block, MB, CU_MEM_ATTACH_GLOBAL));
    memset((void *)block, OLD, MB);
    return block;
}

static void ask_frees(void)
{
    CUdeviceptr in_flight = managed_block(), unrelated = managed_block();
    keep_busy();
    TRY(cuMemcpyAsync(w.to[PINNED], in_flight, MB, w.stream));
    say(" unrelated %.0f ms,", MS(cuMemFree(unrelated)));
    settle();
    keep_busy();
    TRY(cuMemcpyAsync(w.to[PINNED], in_flight, MB, w.stream));
    say(" in flight %.0f ms", MS(cuMemFree(in_flight)));
    settle();
}

static CUmemLocation at_device(void)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

static CUmemLocation at_host(void)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST};
}

/* While a copy is to read `from` and another to write `to`. */
static CUresult hint(int which, CUdeviceptr from, CUdeviceptr to)
{
    switch (which) {
    case 0:
        return cuMemPrefetchAsync(from, MB, at_device(), 0, w.other);
    case 1:
        return cuMemPrefetchAsync(to, MB, at_device(), 0, w.other);
    case 2:
        return cuMemPrefetchAsync(from, MB, at_host(), 0, w.other);
    case 3:
        return cuMemPrefetchAsync(to, MB, at_host(), 0, w.other);
    case 4:
        return cuMemAdvise(from, MB, CU_MEM_ADVISE_SET_READ_MOSTLY, at_device());
    case 5:
        return cuMemAdvise(to, MB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, at_device());
    case 6:
        return cuMemAdvise(to, MB, CU_MEM_ADVISE_SET_ACCESSED_BY, at_device());
    case 7:
        return cuStreamAttachMemAsync(w.other, from, 0, CU_MEM_ATTACH_SINGLE);
    default:
        return cuStreamAttachMemAsync(w.other, to, 0, CU_MEM_ATTACH_HOST);
    }
}

static void ask_hints(void)
{
    static const char *const names[] = {"prefetch of the source to the device",
                                        "prefetch of the target to the device",
                                        "prefetch of the source to the host",
                                        "prefetch of the target to the host",
                                        "read-mostly",
                                        "preferred location",
                                        "accessed by",
                                        "attach to a stream",
                                        "attach to the host"};
    for (size_t i = 0; i < COUNT(names); i++) {
        CUdeviceptr from = managed_block(), to = managed_block();
        memset((void *)from, NEW, MB);
        settle();
        keep_busy();
        TRY(cuMemcpyAsync(to, from, MB, w.stream));
        uint64_t start = now_ns();
        CUresult rc = hint((int)i, from, to);
        double took_ms = ms_since(start);
        settle();
        say("%s: %.1f ms, %d, the copy came %s\n", names[i], took_ms, (int)rc,
            last_byte(MANAGED, to, MB) == NEW ? "right" : "wrong");
        TRY(cuMemFree(from));
        TRY(cuMemFree(to));
    }
}

/* ---- what is said of its pages ---- */

static void say_of_pages(const char *when, CUdeviceptr block)
{
    unsigned char resident[MB / 4096];
    unsigned type = 0, managed = 0;
    size_t there = 0;
    int location = 0;
    memset(resident, 0, sizeof resident);
    int rc = mincore((void *)block, MB, resident);
    for (size_t i = 0; i < sizeof resident; i++)
        there += resident[i] & 1;
    TRY(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
    TRY(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, block));
    TRY(cuMemRangeGetAttribute(&location, sizeof location,
                               CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block, MB));
    say("%s: memory type %u, managed %u, prefetched to %d, mincore %d: %zu of %zu pages\n", when,
        type, managed, location, rc, there, sizeof resident);
}

static void ask_pages(void)
{
    CUdeviceptr block = 0;
    int concurrent = 0;
    TRY(cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device));
    say("concurrentManagedAccess %d\n", concurrent);
    TRY(cuMemAllocManaged(&block, MB, CU_MEM_ATTACH_GLOBAL));
    say_of_pages("new", block);
    memset((void *)block, OLD, MB);
    say_of_pages("written by the host", block);
    TRY(cuMemPrefetchAsync(block, MB, at_device(), 0, w.stream));
    settle();
    say_of_pages("prefetched to the device", block);
    TRY(cuMemPrefetchAsync(block, MB, at_host(), 0, w.stream));
    settle();
    say_of_pages("prefetched back", block);
    TRY(cuMemsetD8(block, NEW, MB));
    settle();
    say_of_pages("written by the device", block);
    (void)*(volatile unsigned char *)block;
    say_of_pages("then one byte read by the host", block);
    TRY(cuMemcpyAsync(w.to[ON_DEVICE], block, MB, w.stream));
    settle();
    say_of_pages("then copied to the device", block);
}

/* As the library reads sources: by the kernel, and plainly. */
static void say_reading(const char *when, CUdeviceptr block)
{
    static unsigned char bytes[4096];
    struct iovec to = {bytes, sizeof bytes}, from = {(void *)block, sizeof bytes};
    uint64_t start = now_ns();
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    double by_kernel_ms = ms_since(start);
    start = now_ns();
    memcpy(bytes, (void *)(block + MB / 2), sizeof bytes);
    say("%s: process_vm_readv %zd in %.3f ms, memcpy in %.3f ms\n", when, got, by_kernel_ms,
        ms_since(start));
}

static void ask_reading(void)
{
    CUdeviceptr block = managed_block();
    say_reading("written by the host", block);
    TRY(cuMemsetD8(block, NEW, MB));
    settle();
    say_reading("written by the device", block);
    TRY(cuMemsetD8(block, OLD, MB));
    settle();
    keep_busy();
    TRY(cuMemsetD8Async(block, NEW, MB, w.stream));
    say_reading("while the device is to write it", block);
    settle();
    double first_ms = MS(cuMemcpyDtoH(w.seen, block, MB));
    double second_ms = MS(cuMemcpyDtoH(w.seen, block, MB));
    say("copied out: %.3f ms, and once more %.3f ms\n", first_ms, second_ms);
}

/* ---- protection: each question may cost the process or the context ---- */

static void say_protected(const char *what, int access, bool to_it)
{
    CUdeviceptr block = managed_block();
    TRY(cuMemsetD8(w.to[ON_DEVICE], NEW, MB));
    settle();
    say("%s:", what);
    say(" mprotect %d,", mprotect((void *)block, MB, access));
    say(" copy %d,", to_it ? (int)cuMemcpyAsync(block, w.to[ON_DEVICE], MB, w.stream)
                           : (int)cuMemcpyAsync(w.to[ON_DEVICE], block, MB, w.stream));
    say(" synchronise %d,", (int)cuStreamSynchronize(w.stream));
    say(" back %d,", mprotect((void *)block, MB, PROT_READ | PROT_WRITE));
    unsigned char wanted = to_it ? NEW : OLD;
    unsigned char got = last_byte(to_it ? MANAGED : ON_DEVICE, to_it ? block : w.to[ON_DEVICE], MB);
    say(" data %s\n", got == wanted ? "right" : "wrong");
}

static void ask_read_only_source(void)
{
    say_protected("read-only, a copy reads it", PROT_READ, false);
}

static void ask_read_only_target(void)
{
    say_protected("read-only, a copy writes it", PROT_READ, true);
}

static void ask_closed_source(void)
{
    say_protected("inaccessible, a copy reads it", PROT_NONE, false);
}

static void ask_closed_target(void)
{
    say_protected("inaccessible, a copy writes it", PROT_NONE, true);
}

static const struct question questions[] = {
    {.name = "frees", .ask = ask_frees, .text = "cuMemFree of managed memory behind 40 ms"},
    {.name = "hints", .ask = ask_hints},
    {.name = "pages", .ask = ask_pages},
    {.name = "reading", .ask = ask_reading},
    {.name = "read-only-source", .ask = ask_read_only_source},
    {.name = "read-only-target", .ask = ask_read_only_target},
    {.name = "closed-source", .ask = ask_closed_source},
    {.name = "closed-target", .ask = ask_closed_target},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_managed",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 30,
        .in_sections = true,
    };

    return ask_all(&inquiry, argc, argv);
}
