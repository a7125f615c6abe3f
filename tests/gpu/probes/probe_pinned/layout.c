/* Where pinned memory lies, and whose it is: of processes, contexts and limits. */
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void show_status(const char *title)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    say("%s:", title);
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "VmLck", 5) || !strncmp(line, "VmPin", 5) ||
            !strncmp(line, "RssAn", 5) || !strncmp(line, "VmSize", 6) ||
            !strncmp(line, "RssSh", 5) || !strncmp(line, "RssFi", 5)) {
            char name[32];
            long kb = 0;
            sscanf(line, "%31s %ld", name, &kb);
            say(" %s %ld", name, kb);
        }
    say("\n");
    if (file)
        fclose(file);
}

static void show_distances(size_t bytes)
{
    void *small[24];
    unsigned count = bytes > MB ? 3 : 24;
    size_t least_align = 1UL << 30;
    for (unsigned i = 0; i < count; i++) {
        cuMemHostAlloc(&small[i], bytes, 0);
        size_t align = (uintptr_t)small[i] & -(uintptr_t)small[i];
        least_align = align < least_align ? align : least_align;
    }
    say("%u of %s: least alignment %s, distances", count, size_text(bytes), size_text(least_align));
    for (unsigned i = 1; i < count && i < 10; i++)
        say(" %ld", (long)((char *)small[i] - (char *)small[i - 1]));
    say("\n");
    if (bytes == 8 || bytes == 4096 || bytes == MB || bytes == 64 * MB)
        show_mapping("  maps", small[0]);
    for (unsigned i = 0; i < count; i++)
        cuMemFreeHost(small[i]);
}

/* Whether memory is zero at first, and what it holds when it is given out again. */
static void show_reuse(size_t bytes)
{
    unsigned char *first = NULL, *second = NULL;
    unsigned zero = 1, old = 0;

    cuMemHostAlloc((void **)&first, bytes, 0);
    for (size_t i = 0; i < bytes; i++)
        zero &= first[i] == 0;
    memset(first, 0x5A, bytes);
    cuMemFreeHost(first);
    cuMemHostAlloc((void **)&second, bytes, 0);
    for (size_t i = 0; i < bytes; i++)
        old |= second[i] == 0x5A;
    say("%s: fresh memory zero %u; allocated again: %s address, old bytes %u\n", size_text(bytes),
        zero, first == second ? "same" : "other", old);
    cuMemFreeHost(second);
}

/* What becomes of huge pages and of the process's size. */
static void show_mappings(void)
{
    void *big = NULL;

    show_status("status before");
    cuMemHostAlloc(&big, 256 * MB, 0);
    show_status("with 256 MB allocated");
    cuMemFreeHost(big);
    char *huge = map_huge(256 * MB);
    memset(huge, 1, 256 * MB);
    show_mapping("huge, touched", huge);
    show_status("with 256 MB mapped and touched");
    cuMemHostRegister(huge, 256 * MB, 3);
    show_mapping("huge, registered", huge);
    show_status("registered too");
    mprotect(huge + 64 * KB, 4096, PROT_READ);
    mprotect(huge + 64 * KB, 4096, PROT_READ | PROT_WRITE);
    show_mapping("after a 4 KB mprotect pair in the first 2 MB", huge);
    cuMemHostUnregister(huge);
    show_mapping("unregistered", huge);
    munmap(huge, 256 * MB);
    huge = map_huge(64 * MB);
    cuMemHostRegister(huge, 64 * MB, 3);
    show_mapping("registered without being touched", huge);
    cuMemHostUnregister(huge);
    munmap(huge, 64 * MB);
    const size_t odd = 3 * MB + 5000;
    huge = map_huge(4 * MB);
    madvise(huge, 4 * MB, MADV_POPULATE_WRITE);
    cuMemHostRegister(huge, odd, 3);
    show_mapping("3 MB + 5000 of 4 MB registered", huge);
    cuMemHostUnregister(huge);
}

void section_layout(void)
{
    const size_t each[] = {8, 100, 512, 4096, 5000, 65536, 300 * KB, MB, 3 * MB, 64 * MB};

    for (unsigned s = 0; s < COUNT(each); s++)
        show_distances(each[s]);
    for (unsigned s = 0; s < COUNT(each); s++)
        show_reuse(each[s]);
    for (unsigned flags = 0; flags < 8; flags++) {
        void *at = NULL;
        cuMemHostAlloc(&at, 4 * MB, flags);
        char title[40];
        snprintf(title, sizeof title, "4 MB flags=%u", flags);
        show_mapping(title, at);
        cuMemFreeHost(at);
    }
    show_mappings();
}

static bool is_mapped(void *at)
{
    unsigned char residence;
    return mincore((void *)((uintptr_t)at & ~4095UL), 4096, &residence) == 0;
}

static void try_in(const char *title, CUcontext context, void *at)
{
    if (!is_mapped(at)) {
        cuCtxSetCurrent(context);
        say("%s: answers %c, not mapped", title, letter_of((uintptr_t)at, (uintptr_t)at, MB));
        return;
    }
    CUdeviceptr dev = 0;
    CUstream stream = NULL;
    cuCtxSetCurrent(context);
    CUresult allocated = cuMemAlloc(&dev, MB);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUresult copied = cuMemcpyHtoDAsync(dev, at, MB, stream);
    CUresult synced = cuStreamSynchronize(stream);
    say("%s: answers %c, alloc %d, copy %d, sync %d", title,
        letter_of((uintptr_t)at, (uintptr_t)at, MB), (int)allocated, (int)copied, (int)synced);
    cuMemFree(dev);
    cuStreamDestroy(stream);
}

static void contexts_of(const char *title, bool registered, unsigned flags)
{
    void *at = NULL;
    CUcontext owner = make_context();
    CUcontext kept_a = context_a;
    context_a = owner;
    cuCtxSetCurrent(owner);
    if (registered) {
        at = map_huge(2 * MB);
        memset(at, 1, 2 * MB);
        cuMemHostRegister(at, MB, flags);
    } else {
        cuMemHostAlloc(&at, MB, flags);
    }
    say("%s flags=%u: ", title, flags);
    try_in("in its own context", owner, at);
    try_in("; in another one", context_b, at);
    cuCtxSetCurrent(context_b);
    CUresult rc = registered ? cuMemHostRegister(at, MB, flags) : cuMemHostUnregister(at);
    say("; there %s %d\n    ", registered ? "Register again" : "Unregister", (int)rc);
    cuCtxDestroy(owner);
    cuCtxSetCurrent(context_b);
    try_in("owner destroyed", context_b, at);
    rc = registered ? cuMemHostUnregister(at) : cuMemFreeHost(at);
    say("; given back %d", (int)rc);
    if (registered)
        say("; registered anew %d", (int)cuMemHostRegister(at, MB, flags));
    say("\n");
    context_a = kept_a;
}

void section_contexts(void)
{
    context_b = make_context();
    for (unsigned flags = 0; flags < 8; flags++)
        if (flags != 5 && flags != 6)
            contexts_of("allocated", false, flags);
    for (unsigned flags = 0; flags < 4; flags++)
        contexts_of("registered", true, flags);
    void *at = NULL;
    cuCtxSetCurrent(context_a);
    cuMemHostAlloc(&at, MB, 0);
    cuCtxSetCurrent(context_b);
    say("allocated in A, B current: FreeHost %d", (int)cuMemFreeHost(at));
    char *mine = map_shared_huge(2 * MB);
    cuCtxSetCurrent(context_a);
    cuMemHostRegister(mine, 2 * MB, 0);
    cuCtxSetCurrent(context_b);
    say("; registered in A, B current: Unregister %d", (int)cuMemHostUnregister(mine));
    cuCtxSetCurrent(context_a);
    cuMemHostRegister(mine, 2 * MB, 0);
    cuCtxSetCurrent(NULL);
    say("; none current: Unregister %d\n", (int)cuMemHostUnregister(mine));
    cuCtxSetCurrent(context_a);
    cuMemHostAlloc(&at, MB, 0);
    cuCtxSetCurrent(NULL);
    say("none current: FreeHost %d", (int)cuMemFreeHost(at));
    say(", Alloc %d, Register %d", (int)cuMemHostAlloc(&at, MB, 0),
        (int)cuMemHostRegister(map_as(MB, 0), MB, 0));
    unsigned flags = 0;
    CUdeviceptr pointer = 0;
    CUcontext owner = NULL;
    cuCtxSetCurrent(context_a);
    cuMemHostAlloc(&at, MB, 0);
    cuCtxSetCurrent(NULL);
    say("; GetFlags %d, GetDevicePointer %d, attribute %d\n", (int)cuMemHostGetFlags(&flags, at),
        (int)cuMemHostGetDevicePointer(&pointer, at, 0),
        (int)cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)at));
    show_known();
}

static void check_in_child(const char *title, char *at)
{
    pid_t child = fork();
    if (child == 0) {
        int pipes[2];
        char seen = 0;
        bool mapped = pipe(pipes) == 0 && write(pipes[1], at, 1) == 1 && read(pipes[0], &seen, 1);
        say("%s: in the child %s", title, mapped ? "mapped" : "not mapped");
        if (mapped) {
            say(", holds %d", seen);
            at[0] = 77;
        }
        say("\n");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    say("    the parent then reads %d\n", at[0]);
}

void section_fork(void)
{
    void *at = NULL;
    for (unsigned flags = 0; flags < 8; flags += 4) {
        for (size_t bytes = 4096; bytes <= 16 * MB; bytes *= 64) {
            char title[64];
            cuMemHostAlloc(&at, bytes, flags);
            *(char *)at = 42;
            snprintf(title, sizeof title, "allocated %s flags=%u", size_text(bytes), flags);
            check_in_child(title, at);
        }
    }
    char *shared = map_shared_huge(4 * MB);
    shared[0] = 42;
    cuMemHostRegister(shared, 4 * MB, 3);
    check_in_child("registered, shared", shared);
    show_mapping("shared, after fork", shared);
    char *huge = map_huge(4 * MB);
    huge[0] = 42;
    cuMemHostRegister(huge, 4 * MB, 3);
    check_in_child("registered", huge);
    show_mapping("registered, after fork", huge);
    CUdeviceptr dev = 0;
    char back[8] = {0};
    cuMemAlloc(&dev, MB);
    memset(huge, 9, MB);
    cuMemcpyHtoD(dev, huge, MB);
    cuMemcpyDtoH(back, dev, 8);
    say("registered memory written by the parent after fork: the device sees %d of 9\n", back[0]);
}

void section_memlock(void)
{
    struct rlimit none = {0, 0}, now;
    void *at = NULL;
    char *huge = map_huge(64 * MB);
    getrlimit(RLIMIT_MEMLOCK, &now);
    say("RLIMIT_MEMLOCK %llu\n", (unsigned long long)now.rlim_cur);
    setrlimit(RLIMIT_MEMLOCK, &none);
    if (getuid() == 0 && setuid(65534) != 0)
        say("setuid: %s\n", strerror(errno));
    say("as uid %d with 0: HostAlloc 64 MB %d, Register 64 MB %d\n", (int)getuid(),
        (int)cuMemHostAlloc(&at, 64 * MB, 0), (int)cuMemHostRegister(huge, 64 * MB, 0));
    struct rlimit space = {1UL << 36, 1UL << 36};
    say("RLIMIT_AS 64 GB: %d\n", setrlimit(RLIMIT_AS, &space));
    at = NULL;
    say("    HostAlloc 64 MB %d", (int)cuMemHostAlloc(&at, 64 * MB, 0));
    say(", %p\n", at);
}
