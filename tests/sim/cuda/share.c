/* Memory that processes share: by file descriptors of physical memory, and by handles of what
 * cuMemAlloc has given, which say where the driver's file is (/proc/PID/fd). */
#include "api.h"
#include "engine.h"
#include "streams.h"
#include "virtual.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- file descriptors ---- */

static CUresult export(int *out, CUmemGenericAllocationHandle handle,
                       CUmemAllocationHandleType type)
{
    sim_lock();
    const struct sim_physical *physical = sim_physical_of_locked(handle);
    bool is_asked = physical && physical->prop.requestedHandleTypes & type;
    int file = is_asked ? fcntl(physical->file, F_DUPFD_CLOEXEC, 0) : -1;
    sim_unlock();
    if (!is_asked)
        return CUDA_ERROR_INVALID_VALUE;
    *out = file;
    return file >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

SIM_API(cuMemExportToShareableHandle,
        (void *shareableHandle, CUmemGenericAllocationHandle handle,
         CUmemAllocationHandleType handleType, unsigned long long flags),
        shareableHandle, handle, handleType, flags)
{
    if (!shareableHandle || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    return export(shareableHandle, handle, handleType);
}

SIM_API(cuMemImportFromShareableHandle,
        (CUmemGenericAllocationHandle * handle, void *osHandle,
         CUmemAllocationHandleType shHandleType),
        handle, osHandle, shHandleType)
{
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    struct sim_physical *physical = sim_physical_import_locked((int)(intptr_t)osHandle);
    sim_unlock();
    if (physical)
        *handle = sim_physical_handle(physical);
    return physical ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

/* ---- handles ---- */

#define HANDLE_MAGIC 0x53495043u

struct handle {
    uint32_t magic;
    pid_t pid;
    int file;
    CUdevice device;
    uint64_t inode, offset, size;
};

/* As often as it was opened. */
struct opened {
    struct opened *next;
    struct handle handle;
    uintptr_t base;
    unsigned count;
};

static struct opened *all_opened;

_Static_assert(sizeof(struct handle) <= sizeof(CUipcMemHandle), "a handle has room for it");

static bool is_shareable(const struct sim_range *range)
{
    return range->kind == MEMORY_DEVICE && !range->pool && !range->of_graph && !range->mapped;
}

static uint64_t inode_of(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 ? status.st_ino : 0;
}

SIM_API(cuIpcGetMemHandle, (CUipcMemHandle * pHandle, CUdeviceptr dptr), pHandle, dptr)
{
    struct sim_range range;
    struct handle handle = {.magic = HANDLE_MAGIC, .pid = getpid()};
    size_t offset = 0;
    if (!pHandle)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    sim_memory_find_locked((uintptr_t)dptr, &range);
    bool can = is_shareable(&range);
    if (can) {
        handle.file = sim_memory_file_locked(range.base, &offset);
        handle.inode = inode_of(handle.file);
        handle.offset = offset;
        handle.size = range.size;
        handle.device = range.device;
        sim_memory_export_locked(range.base);
    }
    sim_unlock();
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &handle, sizeof handle);
    return can ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int open_file(const struct handle *handle)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)handle->pid, handle->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && inode_of(file) != handle->inode) {
        close(file);
        file = -1;
    }
    return file;
}

static uintptr_t map_handle_locked(const struct handle *handle, CUcontext context)
{
    struct sim_range like = {.kind = MEMORY_DEVICE, .device = handle->device, .context = context};
    int file = open_file(handle);
    uintptr_t base =
        file >= 0 ? sim_virtual_share_locked(file, handle->offset, handle->size, &like) : 0;
    if (file >= 0)
        close(file);
    return base;
}

static struct opened *open_locked(const struct handle *handle, CUcontext context)
{
    struct opened *o = all_opened;
    while (o && memcmp(&o->handle, handle, sizeof *handle) != 0)
        o = o->next;
    if (o)
        return o;
    uintptr_t base = map_handle_locked(handle, context);
    o = base ? calloc(1, sizeof *o) : NULL;
    if (o) {
        *o = (struct opened){.next = all_opened, .handle = *handle, .base = base};
        all_opened = o;
    }
    return o;
}

static CUresult open_handle(CUdeviceptr *address, const CUipcMemHandle *given, unsigned flags)
{
    struct handle handle;
    memcpy(&handle, given, sizeof handle);
    if (!address || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || handle.magic != HANDLE_MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle.pid == getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    CUcontext context = sim_context_current();
    sim_lock();
    CUresult result = sim_context_valid_locked(context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        struct opened *o = open_locked(&handle, context);
        result = o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        if (o) {
            o->count++;
            *address = o->base;
        }
    }
    sim_unlock();
    return result;
}

SIM_API(cuIpcOpenMemHandle, (CUdeviceptr * pdptr, CUipcMemHandle handle, unsigned int Flags), pdptr,
        handle, Flags)
{
    return open_handle(pdptr, &handle, Flags);
}

SIM_API(cuIpcOpenMemHandle_v2, (CUdeviceptr * pdptr, CUipcMemHandle handle, unsigned int Flags),
        pdptr, handle, Flags)
{
    return open_handle(pdptr, &handle, Flags);
}

/* It waits for the device, as a free does, but a capture permits it. */
SIM_API(cuIpcCloseMemHandle, (CUdeviceptr dptr), dptr)
{
    sim_lock();
    struct opened **at = &all_opened;
    while (*at && (*at)->base != dptr)
        at = &(*at)->next;
    struct opened *o = *at;
    CUresult result = o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (o)
        sim_device_wait_locked(o->handle.device, NULL);
    if (o && --o->count == 0) {
        *at = o->next;
        sim_virtual_drop_locked(o->base);
        free(o);
    }
    sim_unlock();
    return result;
}

/* ---- events ---- */

#define EVENT_MAGIC 0x53494556u

SIM_API(cuIpcGetEventHandle, (CUipcEventHandle * pHandle, CUevent event), pHandle, event)
{
    struct handle handle = {.magic = EVENT_MAGIC, .pid = getpid()};
    if (!pHandle)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    bool can = event && event->magic == MAGIC_EVENT && event->shared;
    if (can) {
        handle.file = event->file;
        handle.inode = inode_of(event->file);
    }
    sim_unlock();
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &handle, sizeof handle);
    return can ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_API(cuIpcOpenEventHandle, (CUevent * phEvent, CUipcEventHandle given), phEvent, given)
{
    struct handle handle;
    memcpy(&handle, &given, sizeof handle);
    if (!phEvent || handle.magic != EVENT_MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle.pid == getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    CUcontext context = sim_context_current();
    int file = open_file(&handle);
    sim_lock();
    bool valid = sim_context_valid_locked(context);
    CUevent event = valid && file >= 0 ? sim_event_open_locked(context, file) : NULL;
    sim_unlock();
    if (event)
        *phEvent = event;
    else if (file >= 0)
        close(file);
    return event ? CUDA_SUCCESS : valid ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
}
