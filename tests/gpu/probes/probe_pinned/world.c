#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

double now_us(void)
{
    return (double)now_ns() / 1e3;
}

CUcontext make_context(void)
{
    CUcontext made = NULL;

    TRY(cuCtxCreate_v4(&made, NULL, 0, device));
    return made;
}

size_t whole_huge(size_t bytes)
{
    return (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
}

char *map_as(size_t bytes, int more)
{
    int kind = more & MAP_SHARED ? 0 : MAP_PRIVATE;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | more, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

char *map_shared_huge(size_t bytes)
{
    size_t whole = whole_huge(bytes);
    char *wide = mmap(NULL, whole + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = (char *)(((uintptr_t)wide + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
    int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    if (wide == MAP_FAILED || mmap(at, whole, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < whole; i += HUGE_BYTES)
        madvise(at + i, 4096, MADV_POPULATE_WRITE);
    if (madvise(at, whole, MADV_COLLAPSE) != 0)
        say("MADV_COLLAPSE of %zu: %s\n", whole, strerror(errno));
    munmap(wide, (size_t)(at - wide));
    munmap(at + whole, (size_t)(wide + HUGE_BYTES - at));
    return at;
}

char *map_huge(size_t bytes)
{
    char *at = map_as(bytes + HUGE_BYTES, 0);
    if (!at)
        return NULL;
    char *aligned = (char *)(((uintptr_t)at + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
    if (aligned > at)
        munmap(at, (size_t)(aligned - at));
    munmap(aligned + bytes, (size_t)(at + HUGE_BYTES - aligned));
    madvise(aligned, bytes, MADV_HUGEPAGE);
    return aligned;
}

size_t whole_pages(size_t bytes)
{
    return (bytes + 4 * KB - 1) & ~(4 * KB - 1);
}

void show_mapping(const char *title, const void *address)
{
    char line[512];
    bool inside = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    say("%s %p:", title, address);
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && strchr(line, '-') < line + 20) {
            if (inside)
                break;
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
            if (inside)
                say(" [+%ld, %lu KB] %s", (long)(from - (uintptr_t)address), (to - from) / 1024,
                    strchr(line, ' ') + 1);
        } else if (inside && (!strncmp(line, "VmFlags", 7) || !strncmp(line, "AnonHuge", 8) ||
                              !strncmp(line, "ShmemPmd", 8) || !strncmp(line, "Rss", 3) ||
                              !strncmp(line, "Locked", 6) || !strncmp(line, "Private_Dirty", 13) ||
                              !strncmp(line, "THPeli", 6))) {
            line[strcspn(line, "\n")] = 0;
            say("    %s\n", line);
        }
    }
    if (!inside)
        say(" not mapped\n");
    if (file)
        fclose(file);
}
