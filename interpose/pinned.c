#include "interpose/pinned.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/heap.h"
#include "interpose/process.h"
#include "interpose/streams.h"
#include "track/grid.h"

#include "track/poison.h"

enum { HUGE_BYTES = 2 << 20, SIZE_MIN = 1 << 20, CELLS = 1024, SPARES_MAX = 8 };

/* One mapping of whole huge pages, which starts with the allocation. */
struct block {
    struct sc_grid_node node; /* the pages */
    size_t size_bytes;        /* that were asked for */
    unsigned flags;
    CUcontext context;
    bool spare; /* freed, and still registered for the next allocation of the same kind */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_pool blocks;
static struct sc_grid grid;
static bool ready;
static unsigned spare_count;
static _Atomic bool forks;

static uintptr_t start_of(const struct block *block)
{
    return atomic_load_explicit(&block->node.address, memory_order_relaxed);
}

static size_t pages_of(const struct block *block)
{
    return atomic_load_explicit(&block->node.size_bytes, memory_order_relaxed);
}

static struct block *block_at(uint32_t id)
{
    return sc_pool_at(&blocks, id);
}

/* The kernel must have huge pages to give: "always [madvise] never" has its choice in brackets. */
static bool kernel_gives_huge_pages(void)
{
    static _Atomic int known; /* 1: yes, 2: no */
    char text[64] = "";
    if (known)
        return known == 1;
    int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    known = got > 0 && !strstr(text, "[never]") ? 1 : 2;
    return known == 1;
}

static bool is_for_us(size_t size_bytes, unsigned flags)
{
    const unsigned honoured = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    return sc_active() && sc_options.mode == SC_MODE_FIX && sc_options.guard &&
           sc_options.pinned == SC_PINNED_HUGE && size_bytes >= SIZE_MIN &&
           size_bytes <= SIZE_MAX / 2 && !(flags & ~honoured) && !sc_streams_captures_seen() &&
           !atomic_load_explicit(&forks, memory_order_relaxed) && sc_real.cuMemHostRegister_v2 &&
           kernel_gives_huge_pages();
}

/* ---- mappings ---- */

static void unmap(uintptr_t start, size_t size_bytes)
{
    if (size_bytes)
        sc_heap_really_unmap((void *)start, size_bytes);
}

/* Aligned, and populated: the driver would touch each small page otherwise. */
static uintptr_t map_huge(size_t size_bytes)
{
    sc_inside++;
    char *wide = mmap(NULL, size_bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    sc_inside--;
    if (wide == MAP_FAILED)
        return 0;
    uintptr_t start = ((uintptr_t)wide + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
    unmap((uintptr_t)wide, start - (uintptr_t)wide);
    unmap(start + size_bytes, (uintptr_t)wide + HUGE_BYTES - start);
    if (madvise((void *)start, size_bytes, MADV_HUGEPAGE) == 0)
        return start;
    unmap(start, size_bytes);
    return 0;
}

static CUresult register_block(uintptr_t start, size_t size_bytes, unsigned flags)
{
    unsigned how = (flags & CU_MEMHOSTALLOC_PORTABLE ? CU_MEMHOSTREGISTER_PORTABLE : 0) |
                   (flags & CU_MEMHOSTALLOC_DEVICEMAP ? CU_MEMHOSTREGISTER_DEVICEMAP : 0);
    sc_inside++;
    CUresult result = sc_real.cuMemHostRegister_v2((void *)start, size_bytes, how);
    sc_inside--;
    return result;
}

/* ---- blocks ---- */

static bool start_locked(void)
{
    if (!ready) {
        sc_pool_init(&blocks, sizeof(struct block));
        ready = sc_grid_init(&grid, &blocks, CELLS) == 0;
    }
    return ready;
}

static bool add_locked(uintptr_t start, size_t pages_bytes, size_t size_bytes, unsigned flags,
                       CUcontext context)
{
    uint32_t id = start_locked() ? sc_pool_take(&blocks) : 0;
    if (!id)
        return false;
    struct block *block = block_at(id);
    atomic_store_explicit(&block->node.address, start, memory_order_release);
    atomic_store_explicit(&block->node.size_bytes, pages_bytes, memory_order_release);
    block->size_bytes = size_bytes;
    block->flags = flags;
    block->context = context;
    sc_grid_insert(&grid, id);
    return true;
}

static void drop_locked(uint32_t id)
{
    spare_count -= block_at(id)->spare;
    sc_grid_remove(&grid, id);
    sc_pool_give(&blocks, id);
}

struct search {
    size_t size_bytes;
    unsigned flags;
    CUcontext context;
    bool any; /* of the context */
    uint32_t found;
};

static bool match(void *argument, uint32_t id)
{
    struct search *search = argument;
    const struct block *block = block_at(id);
    if (block->context == search->context &&
        (search->any || (block->spare && block->size_bytes == search->size_bytes &&
                         block->flags == search->flags)))
        search->found = id;
    return !search->found;
}

static uint32_t find_locked(struct search *search)
{
    if (ready)
        sc_grid_overlaps_locked(&grid, 0, SIZE_MAX, match, search);
    return search->found;
}

static void *take_spare(size_t size_bytes, unsigned flags, CUcontext context)
{
    struct search search = {size_bytes, flags, context, false, 0};
    void *address = NULL;
    pthread_mutex_lock(&lock);
    if (spare_count && find_locked(&search)) {
        block_at(search.found)->spare = false;
        spare_count--;
        address = (void *)start_of(block_at(search.found));
    }
    pthread_mutex_unlock(&lock);
    return address;
}

static void *make(size_t size_bytes, unsigned flags, CUcontext context)
{
    size_t pages_bytes = (size_bytes + HUGE_BYTES - 1) & ~(size_t)(HUGE_BYTES - 1);
    uintptr_t start = map_huge(pages_bytes);
    if (!start)
        return NULL;
    if (register_block(start, size_bytes, flags) != CUDA_SUCCESS) {
        unmap(start, pages_bytes);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    bool added = add_locked(start, pages_bytes, size_bytes, flags, context);
    pthread_mutex_unlock(&lock);
    if (added)
        return (void *)start;
    sc_real.cuMemHostUnregister((void *)start);
    unmap(start, pages_bytes);
    return NULL;
}

void *sc_pinned_take(size_t size_bytes, unsigned flags)
{
    CUcontext context = NULL;
    int saved = errno;
    if (!is_for_us(size_bytes, flags) || sc_real.cuCtxGetCurrent(&context) != CUDA_SUCCESS ||
        !context)
        return NULL;
    void *address = take_spare(size_bytes, flags, context);
    if (!address)
        address = make(size_bytes, flags, context);
    errno = saved;
    return address;
}

uintptr_t sc_pinned_end(uintptr_t address)
{
    uintptr_t end = 0;
    if (!blocks.live)
        return 0;
    pthread_mutex_lock(&lock);
    uint32_t id = sc_grid_point_locked(&grid, address);
    if (id && start_of(block_at(id)) == address && !block_at(id)->spare)
        end = address + pages_of(block_at(id));
    pthread_mutex_unlock(&lock);
    return end;
}

static bool note_any(void *argument, uint32_t id)
{
    (void)id;
    *(bool *)argument = true;
    return false;
}

bool sc_pinned_overlaps(uintptr_t address, size_t size_bytes)
{
    bool any = false;
    if (!blocks.live || !size_bytes)
        return false;
    pthread_mutex_lock(&lock);
    sc_grid_overlaps_locked(&grid, address, size_bytes, note_any, &any);
    pthread_mutex_unlock(&lock);
    return any;
}

/* ---- freeing ---- */

/* A block of one huge page stays registered for the next of its kind, as the driver keeps the pages
 * of what it packs; its free then waits for the context as cuMemFreeHost does. */
static CUresult free_as_spare(struct block *block)
{
    CUcontext popped;
    if (sc_real.cuCtxPushCurrent_v2(block->context) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = sc_real.cuCtxSynchronize();
    sc_real.cuCtxPopCurrent_v2(&popped);
    return result;
}

static bool may_become_spare(const struct block *block)
{
    return pages_of(block) == HUGE_BYTES && sc_real.cuCtxSynchronize && spare_count < SPARES_MAX;
}

static uint32_t find_start_locked(uintptr_t address)
{
    uint32_t id = ready ? sc_grid_point_locked(&grid, address) : 0;
    return id && start_of(block_at(id)) == address && !block_at(id)->spare ? id : 0;
}

static CUresult finish_spare(uintptr_t address)
{
    pthread_mutex_lock(&lock);
    uint32_t id = find_start_locked(address);
    if (id) {
        block_at(id)->spare = true;
        spare_count++;
    }
    pthread_mutex_unlock(&lock);
    return id ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult finish_free(uintptr_t address, size_t pages_bytes)
{
    CUresult result = sc_real.cuMemHostUnregister((void *)address);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    uint32_t id = find_start_locked(address);
    if (id)
        drop_locked(id);
    pthread_mutex_unlock(&lock);
    if (id)
        unmap(address, pages_bytes);
    return result;
}

CUresult sc_pinned_free(void *address)
{
    struct block block;
    bool spare = false;
    pthread_mutex_lock(&lock);
    uint32_t id = find_start_locked((uintptr_t)address);
    if (id) {
        memcpy(&block, block_at(id), sizeof block);
        spare = may_become_spare(&block);
    }
    pthread_mutex_unlock(&lock);
    if (!id)
        return sc_real.cuMemFreeHost(address);
    if (!spare)
        return finish_free((uintptr_t)address, pages_of(&block));
    CUresult result = free_as_spare(&block);
    return result == CUDA_SUCCESS ? finish_spare((uintptr_t)address) : result;
}

void sc_pinned_context_gone(CUcontext context)
{
    struct search search = {.context = context, .any = true};
    pthread_mutex_lock(&lock);
    while (find_locked(&search)) {
        uintptr_t start = start_of(block_at(search.found));
        size_t pages_bytes = pages_of(block_at(search.found));
        drop_locked(search.found);
        unmap(start, pages_bytes);
        search.found = 0;
    }
    pthread_mutex_unlock(&lock);
}

void sc_pinned_note_fork(void)
{
    atomic_store_explicit(&forks, true, memory_order_relaxed);
}
