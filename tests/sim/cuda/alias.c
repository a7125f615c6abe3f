/*
 * Shared memory that a program registers is mapped once more, since nothing else writes to it past
 * a protection. Valgrind knows no mremap that does so: there the program's pages are exchanged for
 * those of a file, which can be mapped twice.
 */
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static uintptr_t map_again(uintptr_t first, size_t bytes)
{
    void *alias = mremap((void *)first, 0, bytes, MREMAP_MAYMOVE);
    return alias == MAP_FAILED ? 0 : (uintptr_t)alias;
}

/* Asked once: for memory that is not shared, mremap refuses natively as well. */
static bool can_map_again(void)
{
    static enum { UNKNOWN, YES, NO } known;
    void *page = MAP_FAILED;
    if (known == UNKNOWN)
        page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        uintptr_t again = map_again((uintptr_t)page, PAGE);
        known = again ? YES : NO;
        munmap(page, PAGE);
        munmap((void *)again, again ? PAGE : 0);
    }
    return known != NO;
}

static bool is_shared(uintptr_t first, size_t bytes)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], access[5];
    unsigned long start, end;
    bool shared = false;
    while (maps && !shared && fgets(line, sizeof line, maps)) {
        shared = sscanf(line, "%lx-%lx %4s", &start, &end, access) == 3 && access[3] == 's' &&
                 start <= first && first + bytes <= end;
    }
    if (maps)
        fclose(maps);
    return shared;
}

static uintptr_t exchange(uintptr_t first, size_t bytes)
{
    const int access = PROT_READ | PROT_WRITE;
    int file = memfd_create("sim-gpu-registered", MFD_CLOEXEC);
    void *alias = MAP_FAILED;
    if (file >= 0 && pwrite(file, (void *)first, bytes, 0) == (ssize_t)bytes)
        alias = mmap(NULL, bytes, access, MAP_SHARED, file, 0);
    if (alias != MAP_FAILED &&
        mmap((void *)first, bytes, access, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
        munmap(alias, bytes);
        alias = MAP_FAILED;
    }
    if (file >= 0)
        close(file);
    return alias == MAP_FAILED ? 0 : (uintptr_t)alias;
}

uintptr_t sim_alias_map_locked(uintptr_t first, size_t bytes)
{
    int saved = errno;
    uintptr_t alias = can_map_again()           ? map_again(first, bytes)
                      : is_shared(first, bytes) ? exchange(first, bytes)
                                                : 0;
    errno = saved;
    return alias;
}
