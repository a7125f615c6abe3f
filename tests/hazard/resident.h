/* For the twins that must not grow. */
#ifndef SC_TESTS_HAZARD_RESIDENT_H
#define SC_TESTS_HAZARD_RESIDENT_H

#include "twin.h"

/* The memory that the process has in pages. */
static TWIN_HELPER size_t resident_bytes(void)
{
    unsigned long size_pages = 0;
    unsigned long resident_pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%lu %lu", &size_pages, &resident_pages) != 2)
        exit(3);
    fclose(file);
    return resident_pages * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
