/* Virtual memory: physical memory, addresses, and mappings of the one at the other. */
#include "virtual.h"

#include "api.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "sim-gpu-physical-" /* and a digit: the device */
#define HOST_DIGIT 9

struct mapping {
    struct mapping *next; /* by address */
    uintptr_t base;
    size_t size;
    struct sim_physical *physical;
    unsigned char access[SIM_MAX_DEVICES];
    unsigned long long id;
};

struct reservation {
    struct reservation *next;
    uintptr_t base;
    size_t size;
    struct mapping *mappings;
    struct sim_range like; /* of what was shared: one mapping, for good */
    bool shared;
    size_t offset;
};

static struct sim_physical *physicals;
static struct reservation *reservations;

/* ---- physical memory ---- */

CUmemGenericAllocationHandle sim_physical_handle(const struct sim_physical *physical)
{
    return (CUmemGenericAllocationHandle)(uintptr_t)physical;
}

struct sim_physical *sim_physical_of_locked(CUmemGenericAllocationHandle handle)
{
    struct sim_physical *p = physicals;
    while (p && sim_physical_handle(p) != handle)
        p = p->next;
    return p;
}

static bool is_host(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_HOST ||
           location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static CUdevice owner_of(const struct sim_physical *physical)
{
    return is_host(&physical->prop.location) ? SIM_HOST : physical->prop.location.id;
}

static void end_if_unused_locked(struct sim_physical *physical)
{
    struct sim_physical **at = &physicals;
    if (physical->references || physical->mappings)
        return;
    while (*at && *at != physical)
        at = &(*at)->next;
    if (*at)
        *at = physical->next;
    if (physical->handles && --*physical->handles == 0) {
        sim_budget_give_locked(owner_of(physical), physical->size);
        free(physical->handles);
    }
    close(physical->file);
    free(physical);
}

static struct sim_physical *add_locked(int file, size_t size, const CUmemAllocationProp *prop)
{
    struct sim_physical *physical = calloc(1, sizeof *physical);
    if (!physical)
        return NULL;
    *physical = (struct sim_physical){
        .next = physicals, .prop = *prop, .size = size, .references = 1, .file = file};
    physicals = physical;
    return physical;
}

static struct sim_physical *physical_of_file_locked(const struct stat *file)
{
    struct stat own;
    struct sim_physical *p = physicals;
    while (p && (fstat(p->file, &own) != 0 || own.st_ino != file->st_ino))
        p = p->next;
    return p;
}

/* Of the device that its name says, or of none. */
static CUmemLocation location_of_file(int file)
{
    const char *known = "/memfd:" FILE_NAME;
    char link[64], name[128] = "";
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_INVALID};
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length <= 0 || strncmp(name, known, strlen(known)) != 0)
        return location;
    int digit = name[strlen(known)] - '0';
    location.type =
        digit == HOST_DIGIT ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = digit == HOST_DIGIT ? 0 : digit;
    return location;
}

struct sim_physical *sim_physical_import_locked(int file)
{
    struct stat status;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = location_of_file(file)};
    if (prop.location.type == CU_MEM_LOCATION_TYPE_INVALID || fstat(file, &status) != 0)
        return NULL;
    const struct sim_physical *other = physical_of_file_locked(&status);
    int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    struct sim_physical *made = own >= 0 ? add_locked(own, (size_t)status.st_size, &prop) : NULL;
    if (made && other && other->handles) {
        made->handles = other->handles;
        ++*made->handles;
    }
    return made;
}

static CUresult check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
        (prop->location.type == CU_MEM_LOCATION_TYPE_HOST &&
         prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE))
        return CUDA_SUCCESS;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_there = prop->location.id >= 0 && prop->location.id < sim_options.devices;
    return is_there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

SIM_API(cuMemGetAllocationGranularity,
        (size_t * granularity, const CUmemAllocationProp *prop,
         CUmemAllocationGranularity_flags option),
        granularity, prop, option)
{
    if (!granularity || !prop || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = SIM_GRANULE;
    return CUDA_SUCCESS;
}

/* The file says to whoever is handed it which device it is of. */
static int new_file(const CUmemAllocationProp *prop, size_t size)
{
    char name[] = FILE_NAME "0";
    name[sizeof name - 2] =
        (char)('0' + (is_host(&prop->location) ? HOST_DIGIT : prop->location.id));
    int file = memfd_create(name, MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)size) != 0) {
        close(file);
        file = -1;
    }
    return file;
}

struct sim_physical *sim_physical_multicast_locked(size_t size, unsigned devices)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    int file = new_file(&prop, size);
    struct sim_physical *made = file >= 0 ? add_locked(file, size, &prop) : NULL;
    if (made) {
        made->multicast = true;
        made->missing = devices;
    }
    return made;
}

static CUresult create_locked(size_t size, const CUmemAllocationProp *prop,
                              struct sim_physical **made)
{
    CUdevice owner = is_host(&prop->location) ? SIM_HOST : prop->location.id;
    if (!sim_budget_take_apart_locked(owner, size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    int file = new_file(prop, size);
    *made = file >= 0 ? add_locked(file, size, prop) : NULL;
    unsigned *handles = *made ? malloc(sizeof *handles) : NULL;
    if (handles) {
        *handles = 1;
        (*made)->handles = handles;
        return CUDA_SUCCESS;
    }
    sim_budget_give_locked(owner, size);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API(cuMemCreate,
        (CUmemGenericAllocationHandle * handle, size_t size, const CUmemAllocationProp *prop,
         unsigned long long flags),
        handle, size, prop, flags)
{
    struct sim_physical *made = NULL;
    if (!handle || size == 0 || size % SIM_GRANULE != 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_prop(prop);
    if (result != CUDA_SUCCESS)
        return result;
    sim_lock();
    result = create_locked(size, prop, &made);
    sim_unlock();
    if (result == CUDA_SUCCESS)
        *handle = sim_physical_handle(made);
    return result;
}

SIM_API(cuMemRelease, (CUmemGenericAllocationHandle handle), handle)
{
    sim_lock();
    struct sim_physical *physical = sim_physical_of_locked(handle);
    bool is_held = physical && physical->references > 0;
    if (is_held) {
        physical->references--;
        end_if_unused_locked(physical);
    }
    sim_unlock();
    return is_held ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemGetAllocationPropertiesFromHandle,
        (CUmemAllocationProp * prop, CUmemGenericAllocationHandle handle), prop, handle)
{
    sim_lock();
    const struct sim_physical *physical = sim_physical_of_locked(handle);
    if (physical && prop)
        *prop = physical->prop;
    sim_unlock();
    return physical && prop ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- addresses ---- */

static struct reservation *reservation_at_locked(uintptr_t address)
{
    struct reservation *r = reservations;
    while (r && address - r->base >= r->size)
        r = r->next;
    return r;
}

static struct mapping *mapping_at_locked(const struct reservation *r, uintptr_t address)
{
    struct mapping *m = r ? r->mappings : NULL;
    while (m && address - m->base >= m->size)
        m = m->next;
    return m;
}

/* Aligned, where the hint says if there is room. */
static uintptr_t reserve_addresses(size_t size, size_t alignment, uintptr_t hint)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *at = hint ? mmap((void *)hint, size, PROT_NONE, flags, -1, 0) : MAP_FAILED;
    if (at != MAP_FAILED && (uintptr_t)at == hint && hint % alignment == 0)
        return hint;
    if (at != MAP_FAILED)
        munmap(at, size);
    at = size + alignment > size ? mmap(NULL, size + alignment, PROT_NONE, flags, -1, 0)
                                 : MAP_FAILED;
    if (at == MAP_FAILED)
        return 0;
    uintptr_t first = (uintptr_t)at;
    uintptr_t base = (first + alignment - 1) & ~(alignment - 1);
    if (base > first)
        munmap(at, base - first);
    munmap((void *)(base + size), first + alignment - base);
    return base;
}

static struct reservation *reserve_locked(size_t size, size_t alignment, uintptr_t hint)
{
    struct reservation *r = calloc(1, sizeof *r);
    uintptr_t base = r ? reserve_addresses(size, alignment, hint) : 0;
    if (!base) {
        free(r);
        return NULL;
    }
    *r = (struct reservation){.next = reservations, .base = base, .size = size};
    reservations = r;
    return r;
}

SIM_API(cuMemAddressReserve,
        (CUdeviceptr * ptr, size_t size, size_t alignment, CUdeviceptr addr,
         unsigned long long flags),
        ptr, size, alignment, addr, flags)
{
    if (!ptr || size == 0 || size % SIM_GRANULE != 0 || (alignment & (alignment - 1)) ||
        addr % SIM_GRANULE || flags)
        return CUDA_ERROR_INVALID_VALUE;
    alignment = alignment > SIM_GRANULE ? alignment : SIM_GRANULE;
    sim_lock();
    const struct reservation *r = reserve_locked(size, alignment, (uintptr_t)addr);
    if (r)
        *ptr = r->base;
    sim_unlock();
    return r ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void unreserve_locked(struct reservation *r)
{
    struct reservation **at = &reservations;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    munmap((void *)r->base, r->size);
    free(r);
}

SIM_API(cuMemAddressFree, (CUdeviceptr ptr, size_t size), ptr, size)
{
    sim_lock();
    struct reservation *r = reservation_at_locked((uintptr_t)ptr);
    bool is_whole = r && !r->shared && r->base == ptr && r->size == size && !r->mappings;
    if (is_whole)
        unreserve_locked(r);
    sim_unlock();
    return is_whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- mappings ---- */

/* Where the mapping belongs, or NULL where another one lies. */
static struct mapping **place_for_locked(struct reservation *r, uintptr_t base, size_t size)
{
    struct mapping **at = &r->mappings;
    while (*at && (*at)->base + (*at)->size <= base)
        at = &(*at)->next;
    return *at && (*at)->base < base + size ? NULL : at;
}

static struct mapping *map_locked(struct mapping **at, uintptr_t base, size_t size, int file,
                                  size_t offset)
{
    static unsigned long long ids = 1ULL << 41;
    struct mapping *m = calloc(1, sizeof *m);
    if (m && mmap((void *)base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                  (off_t)offset) == MAP_FAILED) {
        free(m);
        m = NULL;
    }
    if (m) {
        *m = (struct mapping){.next = *at, .base = base, .size = size, .id = ++ids};
        *at = m;
    }
    return m;
}

static bool is_inside(const struct reservation *r, uintptr_t base, size_t size)
{
    return r && size <= r->size - (base - r->base);
}

static CUresult enter_map_locked(uintptr_t base, size_t size, struct sim_physical *physical)
{
    struct reservation *r = reservation_at_locked(base);
    bool is_free = is_inside(r, base, size) && !r->shared;
    struct mapping **at = is_free ? place_for_locked(r, base, size) : NULL;
    if (!at)
        return CUDA_ERROR_INVALID_VALUE;
    struct mapping *m = map_locked(at, base, size, physical->file, 0);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->physical = physical;
    physical->mappings++;
    return CUDA_SUCCESS;
}

/* All of the memory, or nothing. */
SIM_API(cuMemMap,
        (CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
         unsigned long long flags),
        ptr, size, offset, handle, flags)
{
    if (ptr % SIM_GRANULE || size == 0 || flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    struct sim_physical *physical = sim_physical_of_locked(handle);
    CUresult result = !physical ? CUDA_ERROR_INVALID_VALUE
                      : offset || size != physical->size
                          ? CUDA_ERROR_NOT_SUPPORTED
                          : enter_map_locked((uintptr_t)ptr, size, physical);
    sim_unlock();
    return result;
}

/* The first of the mappings that fill the range, whole ones only; NULL: there are no such. */
static struct mapping *whole_mappings_locked(uintptr_t base, size_t size)
{
    struct mapping *first = mapping_at_locked(reservation_at_locked(base), base);
    uintptr_t at = base;
    for (struct mapping *m = first; m && at < base + size && m->base == at; m = m->next)
        at += m->size;
    return size && at == base + size ? first : NULL;
}

/* Does a mapping lie partly in the range? */
static bool cuts_locked(const struct reservation *r, uintptr_t base, size_t size)
{
    const struct mapping *first = mapping_at_locked(r, base);
    const struct mapping *last = mapping_at_locked(r, base + size - 1);
    return (first && first->base < base) || (last && last->base + last->size > base + size);
}

static void unmap_locked(struct reservation *r, uintptr_t base, size_t size)
{
    struct mapping **at = &r->mappings;
    while (*at && (*at)->base < base)
        at = &(*at)->next;
    while (*at && (*at)->base < base + size) {
        struct mapping *m = *at;
        *at = m->next;
        if (m->physical) {
            m->physical->mappings--;
            end_if_unused_locked(m->physical);
        }
        free(m);
    }
    mmap((void *)base, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
}

SIM_API(cuMemUnmap, (CUdeviceptr ptr, size_t size), ptr, size)
{
    sim_lock();
    struct reservation *r = reservation_at_locked((uintptr_t)ptr);
    bool is_whole = size && is_inside(r, (uintptr_t)ptr, size) && !r->shared &&
                    !cuts_locked(r, (uintptr_t)ptr, size);
    if (is_whole)
        unmap_locked(r, (uintptr_t)ptr, size);
    sim_unlock();
    return is_whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void *addr), handle,
        addr)
{
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    struct mapping *m = mapping_at_locked(reservation_at_locked((uintptr_t)addr), (uintptr_t)addr);
    if (m && m->physical) {
        m->physical->references++;
        *handle = sim_physical_handle(m->physical);
    }
    sim_unlock();
    return m && m->physical ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- access ---- */

static bool is_access(CUmemAccess_flags flags)
{
    return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
           flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

/* The host reads and writes no memory of these devices. */
static CUresult check_access(const CUmemAccessDesc *access)
{
    if (!is_access(access->flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_host(&access->location))
        return CUDA_ERROR_NOT_SUPPORTED;
    bool is_device = access->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                     access->location.id >= 0 && access->location.id < sim_options.devices;
    return is_device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void set_access_locked(struct mapping *m, uintptr_t end, const CUmemAccessDesc *access)
{
    for (; m && m->base < end; m = m->next)
        m->access[access->location.id] = (unsigned char)access->flags;
}

SIM_API(cuMemSetAccess, (CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count),
        ptr, size, desc, count)
{
    CUresult result = desc && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = check_access(&desc[i]);
    if (result != CUDA_SUCCESS)
        return result;
    sim_lock();
    struct mapping *first = whole_mappings_locked((uintptr_t)ptr, size);
    result = first ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        set_access_locked(first, (uintptr_t)ptr + size, &desc[i]);
    sim_unlock();
    return result;
}

SIM_API(cuMemGetAccess, (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr),
        flags, location, ptr)
{
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id < 0 ||
        location->id >= sim_options.devices)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    const struct mapping *m =
        mapping_at_locked(reservation_at_locked((uintptr_t)ptr), (uintptr_t)ptr);
    *flags = m ? m->access[location->id] : 0;
    sim_unlock();
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- what lies at an address ---- */

bool sim_virtual_find_locked(uintptr_t address, struct sim_range *range)
{
    struct reservation *r = reservation_at_locked(address);
    const struct mapping *m = mapping_at_locked(r, address);
    if (!r)
        return false;
    *range = (struct sim_range){.kind = MEMORY_INVALID, .mapped = true};
    if (!m)
        return true;
    if (r->shared) {
        *range = r->like;
    } else {
        CUdevice owner = owner_of(m->physical);
        *range = (struct sim_range){.kind = owner == SIM_HOST ? MEMORY_PINNED : MEMORY_DEVICE,
                                    .device = owner == SIM_HOST ? 0 : owner};
        for (CUdevice d = 0; d < sim_options.devices; d++)
            range->inaccessible |= m->access[d] == 0 && d == range->device;
    }
    range->mapped = true;
    range->base = m->base;
    range->size = m->size;
    range->id = m->id;
    range->outer_base = r->base;
    range->outer_size = r->size;
    return true;
}

bool sim_virtual_is_lost(uintptr_t address)
{
    struct sim_range range;
    sim_lock();
    bool lost = sim_virtual_find_locked(address, &range) &&
                (range.kind == MEMORY_INVALID || range.inaccessible);
    sim_unlock();
    return lost;
}

/* ---- what others share ---- */

uintptr_t sim_virtual_share_locked(int file, size_t offset, size_t size,
                                   const struct sim_range *like)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), shift = offset % page;
    const size_t whole = (shift + size + page - 1) & ~(page - 1);
    struct reservation *r = reserve_locked(whole, SIM_GRANULE, 0);
    if (!r)
        return 0;
    struct mapping *m = map_locked(&r->mappings, r->base, whole, file, offset - shift);
    if (!m) {
        unreserve_locked(r);
        return 0;
    }
    r->shared = true;
    r->like = *like;
    r->offset = offset;
    m->base += shift;
    m->size = size;
    return m->base;
}

void sim_virtual_drop_locked(uintptr_t base)
{
    struct reservation *r = reservation_at_locked(base);
    if (!r || !r->shared)
        return;
    free(r->mappings);
    unreserve_locked(r);
}
