/* How much memory the process has, for tests of what must not grow. Ends a program that cannot find
 * out, with status 3. */
#ifndef SC_TESTS_PROCESS_MEMORY_H
#define SC_TESTS_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct process_memory {
    size_t mapped_bytes;   /* also what nothing has touched, which a driver pins all the same */
    size_t resident_bytes; /* in pages that are there */
};

static inline struct process_memory measure_memory(void)
{
    unsigned long mapped_pages = 0;
    unsigned long resident_pages = 0;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%lu %lu", &mapped_pages, &resident_pages) != 2)
        exit(3);
    fclose(file);
    struct process_memory memory = {mapped_pages * page_bytes, resident_pages * page_bytes};
    return memory;
}

static inline long mapped_kb(void)
{
    return (long)(measure_memory().mapped_bytes >> 10);
}

static inline long resident_kb(void)
{
    return (long)(measure_memory().resident_bytes >> 10);
}

static inline size_t resident_bytes(void)
{
    return measure_memory().resident_bytes;
}

#endif
