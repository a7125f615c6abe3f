#include "interpose/memory/pinned.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/pool.h"
#include "common/uncancelled.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/door.h"
#include "interpose/memory/areas.h"
#include "interpose/memory/huge_pages.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/contexts.h"
#include "ledger/ledger.h"
#include "report/mechanism.h"
#include "report/options.h"
#include "track/grid.h"

#include "common/poison.h"

enum {
    SMALL_MAX = 64 << 10,   /* above, an edge shared with a neighbour is a small part of a block */
    MEDIUM_MIN = 128 << 10, /* below, the time to guard a block is small beside that of its copy */
    LARGE_MIN = 1 << 20,    /* below, most of a huge page is padding */
    SPARES_MAX = 16,
    CELLS = 1024,
};

struct request {
    size_t size_bytes;
    size_t pages_bytes;
    size_t padding_bytes; /* whole pages after the allocation's last one */
    unsigned flags;
    CUcontext context;
};

/* An allocation of the library: a mapping, at whose start the allocation lies. */
struct block {
    struct sc_grid_node node; /* address and size of the mapping */
    struct request request;
    bool spare; /* the program has freed it, and it is still registered */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_pool blocks SC_GUARDED_BY(lock);
static struct sc_grid grid;
static uint32_t spares[SPARES_MAX] SC_GUARDED_BY(lock); /* by id; 0: free */
static _Atomic pid_t owner;    /* whose blocks these are; 0: there never were any */
static _Atomic uint32_t epoch; /* counts blocks that were unmapped */

/* A limit on what may be in use at a time, in blocks or bytes. */
struct budget {
    _Atomic size_t used;
    size_t limit;
};

/* A small block takes 60 us to allocate and free; one of many that the driver packs takes 2 us. */
static struct budget small_ones = {0, 1024};
static struct budget medium_padding_bytes = {0, (size_t)64 << 20};
static struct budget large_padding_bytes = {0, (size_t)256 << 20};

static struct block *block_at(uint32_t id)
{
    return sc_pool_at(&blocks, id);
}

static uintptr_t start_of(const struct block *block)
{
    return atomic_load_explicit(&block->node.address, memory_order_relaxed);
}

static size_t pages_of(const struct block *block)
{
    return atomic_load_explicit(&block->node.size_bytes, memory_order_relaxed);
}

static size_t round_up(size_t size_bytes, size_t unit)
{
    return (size_bytes + unit - 1) & ~(unit - 1);
}

/* ---- who serves ---- */

static bool has_attribute(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return sc_real.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS && value;
}

/* Is registered memory on this device as good as allocated memory? It must have the same address on
 * the device, and host and device must not share one memory. */
static bool device_is_fit(CUdevice device)
{
    return has_attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) &&
           has_attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) &&
           has_attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) &&
           !has_attribute(device, CU_DEVICE_ATTRIBUTE_INTEGRATED) &&
           !has_attribute(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
}

/* Can all devices of the process use memory that is allocated here and registered? */
static bool devices_are_fit(void)
{
    int count = 0;
    bool fit = sc_real.cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
    for (int i = 0; fit && i < count; i++) {
        CUdevice device;
        fit = sc_real.cuDeviceGet(&device, i) == CUDA_SUCCESS && device_is_fit(device);
    }
    return fit;
}

static bool query_devices(void)
{
    return sc_huge_pages_fit() && sc_real.cuMemHostRegister_v2 && devices_are_fit();
}

static bool machine_is_fit(void)
{
    static _Atomic int fit;
    return sc_huge_pages_remember(&fit, query_devices);
}

static bool query_choice(void)
{
    return sc_mechanism_of((enum sc_guard_mode)sc_options.guard) == SC_MECHANISM_USERFAULTFD;
}

/* Does the guard use userfaultfd? Decided once: swap that is turned on later changes nothing. */
static bool chooses_userfaultfd(void)
{
    static _Atomic int chosen;
    return sc_huge_pages_remember(&chosen, query_choice);
}

/* Is the allocation for a shared area? To keep its pages off there costs what they cost alone,
 * however many pages of others share a huge one. */
static bool fits_area(size_t size_bytes)
{
    return size_bytes <= SC_AREAS_MAX_BYTES && chooses_userfaultfd() && sc_guard_serves_areas();
}

/* Does the library serve an allocation of this size and these flags? */
static bool is_for_us(size_t size_bytes, unsigned flags)
{
    const unsigned honoured = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    return sc_active() && sc_options.mode != SC_MODE_OFF && sc_options.guard &&
           sc_options.pinned == SC_PINNED_HUGE && size_bytes > 0 && !(flags & ~honoured) &&
           machine_is_fit();
}

/* Is the allocation for huge pages? Protecting a huge page costs one thread a third of what
 * protecting 256 KB of small pages costs. With guard=uffd, small allocations go into an area
 * nevertheless. */
static bool fits_huge_pages(size_t size_bytes)
{
    bool prefers_areas = sc_options.guard == SC_GUARD_UFFD && fits_area(size_bytes);
    return size_bytes >= MEDIUM_MIN && size_bytes <= SIZE_MAX / 2 && !prefers_areas &&
           sc_huge_pages_are_plenty(size_bytes);
}

/* ---- budgets ---- */

/* Returns the budget that the request is charged to: small blocks are counted; of larger ones the
 * padding up to whole huge pages. */
static struct budget *budget_of(const struct request *request)
{
    if (request->size_bytes <= SMALL_MAX)
        return &small_ones;
    return request->size_bytes < LARGE_MIN ? &medium_padding_bytes : &large_padding_bytes;
}

/* Returns how much the request takes of its budget. */
static size_t share_of(const struct request *request)
{
    return request->size_bytes <= SMALL_MAX ? 1 : request->padding_bytes;
}

static void uncharge_budget(const struct request *request)
{
    SC_ASSERT(atomic_load(&budget_of(request)->used) >= share_of(request));
    atomic_fetch_sub(&budget_of(request)->used, share_of(request));
}

/* Charges the request to its budget. False: the budget is used up. */
static bool charge_budget(const struct request *request)
{
    struct budget *budget = budget_of(request);
    size_t share = share_of(request);
    if (atomic_fetch_add(&budget->used, share) + share <= budget->limit)
        return true;
    uncharge_budget(request);
    return false;
}

/* ---- blocks ---- */

static bool is_in_child(void)
{
    return atomic_load_explicit(&owner, memory_order_acquire) != getpid();
}

/* Creates the tables in the first call. False: no memory. */
static bool start_locked(void) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    if (atomic_load_explicit(&owner, memory_order_relaxed))
        return true;
    sc_pool_init(&blocks, sizeof(struct block));
    if (sc_grid_init(&grid, &blocks, CELLS) != 0)
        return false;
    atomic_store_explicit(&owner, getpid(), memory_order_release);
    return true;
}

/* Adds a block to the tables. False: no memory. */
static bool add_block(uintptr_t start, const struct request *request)
{
    SC_LOCKED(&lock);
    uint32_t id = start_locked() ? sc_pool_take(&blocks) : 0;
    if (!id)
        return false;
    struct block *block = block_at(id);
    atomic_store_explicit(&block->node.address, start, memory_order_relaxed);
    atomic_store_explicit(&block->node.size_bytes, request->pages_bytes, memory_order_relaxed);
    block->request = *request;
    sc_grid_insert(&grid, id);
    return true;
}

/* Returns the place of the spare (kept) block in the list; for 0: a free place. NULL: there is
 * none. */
static uint32_t *spare_slot_locked(uint32_t id) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    for (unsigned i = 0; i < SPARES_MAX; i++)
        if (spares[i] == id)
            return &spares[i];
    return NULL;
}

/* Maps the huge pages of a block. With userfaultfd they lie in areas of their own, if there are any
 * left: there the block's parts can get stripes, and be guarded separately. */
static uintptr_t map_block(size_t pages_bytes)
{
    uintptr_t start = chooses_userfaultfd() ? sc_areas_take_block(pages_bytes) : 0;
    if (!start)
        return sc_huge_pages_map(pages_bytes);
    if (sc_huge_pages_fill(start, pages_bytes))
        return start;
    sc_areas_unmap(start, pages_bytes);
    return 0;
}

/* Maps the pages of an allocation. Small ones for which no area has room lie elsewhere. */
static uintptr_t map_pages(size_t pages_bytes)
{
    if (pages_bytes % SC_HUGE_PAGE_BYTES == 0)
        return map_block(pages_bytes);
    uintptr_t start = fits_area(pages_bytes) ? sc_areas_map(pages_bytes) : 0;
    return start ? start : sc_huge_pages_map(pages_bytes);
}

/* Unmaps the pages, in an area or elsewhere. */
static void unmap_pages(uintptr_t start, size_t pages_bytes)
{
    if (sc_areas_have(start))
        sc_areas_unmap(start, pages_bytes);
    else
        sc_huge_pages_unmap(start, pages_bytes);
}

/* Forgets the block, and unmaps it. It is forgotten first: once it is unmapped another thread may
 * get the same address. */
static void drop_block(uintptr_t start)
{
    size_t pages_bytes = 0;
    pthread_mutex_lock(&lock);
    uint32_t id = sc_grid_find_at_locked(&grid, start);
    if (id && start_of(block_at(id)) == start) {
        pages_bytes = pages_of(block_at(id));
        SC_ASSERT(!block_at(id)->spare || spare_slot_locked(id));
        if (block_at(id)->spare)
            *spare_slot_locked(id) = 0;
        uncharge_budget(&block_at(id)->request);
        sc_grid_remove(&grid, id);
        sc_pool_release(&blocks, id);
    }
    sc_ledger_keep(&sc_ledger, start, 0);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&epoch, 1);
    unmap_pages(start, pages_bytes);
}

/* Registers the pages with the driver, by a call that no wrapper sees. */
static CUresult register_pages(uintptr_t start, const struct request *request)
{
    _Static_assert(CU_MEMHOSTALLOC_PORTABLE == CU_MEMHOSTREGISTER_PORTABLE &&
                       CU_MEMHOSTALLOC_DEVICEMAP == CU_MEMHOSTREGISTER_DEVICEMAP,
                   "flags mean the same in both calls");
    SC_INSIDE();
    return sc_real.cuMemHostRegister_v2((void *)start, request->size_bytes, request->flags);
}

static CUresult unregister_pages(uintptr_t start)
{
    SC_INSIDE();
    return sc_real.cuMemHostUnregister((void *)start);
}

/* A block that is being made. */
struct making {
    const struct request *request;
    uintptr_t start; /* result; 0: the driver is to serve the request, so that a refusal */
};

/* Maps the pages of a new block and registers them; called where the stack has room for the
 * driver. */
static void make_block(void *argument)
{
    struct making *making = argument;
    const struct request *request = making->request;
    uintptr_t start = map_pages(request->pages_bytes);
    if (!start)
        return;
    if (register_pages(start, request) == CUDA_SUCCESS) {
        if (add_block(start, request)) {
            making->start = start;
            return;
        }
        unregister_pages(start);
    }
    unmap_pages(start, request->pages_bytes);
}

/* Creates a block if the memory of all blocks stays within its limit. 0: not created. */
static uintptr_t make_within_budget(const struct request *request)
{
    struct making making = {request, 0};
    if (!charge_budget(request))
        return 0;
    sc_library_threads_call(make_block, &making);
    if (!making.start)
        uncharge_budget(request);
    return making.start;
}

/* Can a block that was made for one request serve the other? */
static bool is_alike(const struct request *a, const struct request *b)
{
    return a->size_bytes == b->size_bytes && a->flags == b->flags && a->context == b->context;
}

/* Takes a spare (kept) block that fits the request, or, with size 0, any of its context; 0: there
 * is none. */
static uintptr_t take_spare(const struct request *request)
{
    SC_LOCKED(&lock);
    for (unsigned i = 0; i < SPARES_MAX; i++) {
        struct block *block = spares[i] ? block_at(spares[i]) : NULL;
        if (!block || (!is_alike(&block->request, request) &&
                       (request->size_bytes || block->request.context != request->context)))
            continue;
        SC_ASSERT(block->spare);
        block->spare = false;
        spares[i] = 0;
        return start_of(block);
    }
    return 0;
}

/* Creates a block with pages of this size. 0: not created. */
static uintptr_t make_in_pages(struct request *request, size_t page_bytes)
{
    request->pages_bytes = round_up(request->size_bytes, page_bytes);
    request->padding_bytes =
        request->pages_bytes - round_up(request->size_bytes, SC_SMALL_PAGE_BYTES);
    return make_within_budget(request);
}

/* Returns a block for the program: a spare one of the same size, or a new one, of huge pages if it
 * is large. 0: the driver is to allocate it. */
static uintptr_t take_block(size_t size_bytes, unsigned flags)
{
    struct request request = {.size_bytes = size_bytes, .flags = flags};
    if (!is_for_us(size_bytes, flags))
        return 0;
    /* A new context may have the handle of one that has ended, and must not get its spares. */
    sc_context_calls_bury_ended();
    const struct sc_context *context = sc_contexts_of_memory();
    if (!context)
        return 0;
    request.context = context->handle;
    uintptr_t start = take_spare(&request);
    if (!start && fits_huge_pages(size_bytes))
        start = make_in_pages(&request, SC_HUGE_PAGE_BYTES);
    if (!start && (size_bytes <= SMALL_MAX || fits_area(size_bytes)))
        start = make_in_pages(&request, SC_SMALL_PAGE_BYTES);
    return start;
}

/* Allocates pinned memory in place of the driver. NULL: the driver is to do so. */
void *sc_pinned_allocate(size_t size_bytes, unsigned flags)
{
    int saved = errno;
    uintptr_t start = take_block(size_bytes, flags);
    errno = saved;
    return (void *)start;
}

/* ---- questions ---- */

/* Returns where the pages of the block end that begins at the address; 0: no block of the library
 * does. */
uintptr_t sc_pinned_end(uintptr_t address)
{
    if (!atomic_load_explicit(&owner, memory_order_acquire))
        return 0;
    uint32_t id = sc_grid_find_at(&grid, address);
    if (id == SC_GRID_RETRY) {
        if (is_in_child())
            return 0;
        SC_LOCKED(&lock);
        id = sc_grid_find_at_locked(&grid, address);
    }
    return id && start_of(block_at(id)) == address ? address + pages_of(block_at(id)) : 0;
}

/* Does the address lie in a block of the library? Lock-free; false if the table is being changed.
 */
bool sc_pinned_has(uintptr_t address)
{
    if (!atomic_load_explicit(&owner, memory_order_acquire))
        return false;
    uint32_t id = sc_grid_find_at(&grid, address);
    return id && id != SC_GRID_RETRY && !is_in_child();
}

uint32_t sc_pinned_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_acquire);
}

/* Does a block begin there that the program has not freed? */
static bool is_live(uintptr_t start)
{
    SC_LOCKED(&lock);
    uint32_t id = sc_grid_find_at_locked(&grid, start);
    return id && start_of(block_at(id)) == start && !block_at(id)->spare;
}

/* Does any block of the library lie there? */
bool sc_pinned_overlaps(uintptr_t address, size_t size_bytes)
{
    if (size_bytes > UINTPTR_MAX - address)
        size_bytes = UINTPTR_MAX - address;
    if (!size_bytes || is_in_child())
        return false;
    SC_LOCKED(&lock);
    return sc_grid_find_any(&grid, address, size_bytes) != 0;
}

/* ---- giving back ---- */

/* May the freed block stay registered, to be returned again? Only small ones may: of such
 * allocations the driver, too, returns the same ones again. Without that, a program that allocates
 * and frees all the time would be slower with the library. */
static bool may_become_spare(const struct block *block, CUcontext current)
{
    return !block->spare && block->request.context == current &&
           pages_of(block) <= SC_HUGE_PAGE_BYTES;
}

/* Keeps a freed block for the next allocation, since registering pages takes long. False: it is not
 * kept. */
static bool keep_as_spare(uintptr_t start, CUcontext current)
{
    SC_LOCKED(&lock);
    uint32_t id = sc_grid_find_at_locked(&grid, start);
    uint32_t *slot = spare_slot_locked(0);
    if (!slot || !id || start_of(block_at(id)) != start || !may_become_spare(block_at(id), current))
        return false;
    block_at(id)->spare = true;
    *slot = id;
    if (sc_options.memory)
        sc_ledger_keep(&sc_ledger, start, block_at(id)->request.size_bytes);
    return true;
}

/* May the free of the block wait, as cuMemFreeHost does? Not if something may capture, which a wait
 * would end. */
static bool is_waited_for(uintptr_t start)
{
    return sc_pinned_end(start) - start <= SC_HUGE_PAGE_BYTES && !sc_capturing_seen() &&
           sc_real.cuCtxSynchronize;
}

/* Waits for the context, as the driver does before it frees, and keeps the block as a spare one. */
static bool wait_and_keep(uintptr_t start)
{
    CUcontext current = NULL;
    return is_waited_for(start) && sc_real.cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
           sc_real.cuCtxSynchronize() == CUDA_SUCCESS && keep_as_spare(start, current);
}

static bool is_ours_and_here(uintptr_t start)
{
    return sc_pinned_end(start) && !is_in_child() && is_live(start);
}

/* Frees the block. Returns the result that the driver would return. */
static CUresult unregister_and_drop(uintptr_t start)
{
    CUresult result = unregister_pages(start);
    int saved = errno;
    if (result == CUDA_SUCCESS)
        drop_block(start);
    errno = saved;
    return result == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED ? CUDA_ERROR_INVALID_VALUE : result;
}

/* A block of the library's is unregistered, or kept as a spare; all other memory is the driver's.
 */
CUresult sc_pinned_free(void *address)
{
    uintptr_t start = (uintptr_t)address;
    SC_NO_CANCELLATION_POINT();
    if (!is_ours_and_here(start))
        return sc_real.cuMemFreeHost(address);
    return wait_and_keep(start) ? CUDA_SUCCESS : unregister_and_drop(start);
}

/* Is any block kept for reuse? */
bool sc_pinned_keeps_any(void)
{
    SC_LOCKED(&lock);
    for (unsigned i = 0; i < SPARES_MAX; i++)
        if (spares[i])
            return true;
    return false;
}

/* Frees the blocks of the context that are kept for reuse. */
bool sc_pinned_give_up(const struct sc_context *context)
{
    const struct request of_context = {.context = context->handle};
    uintptr_t start;
    bool any = false;
    for (; (start = take_spare(&of_context)) != 0; any = true)
        unregister_and_drop(start);
    return any;
}

/* Is the block still registered? If the driver has unregistered it with its context, it is
 * unmapped, as the driver's own memory would be. */
static bool is_registered(uintptr_t start)
{
    CUmemorytype type;
    return sc_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, start) ==
           CUDA_SUCCESS;
}

/* Changes the context handle of blocks: the handle of a context that ends may become another
 * context's. */
static void rename_blocks(CUcontext from, CUcontext to)
{
    if (is_in_child())
        return;
    SC_LOCKED(&lock);
    SC_GRID_EACH (walk, &grid, 0, SIZE_MAX)
        if (block_at(walk.id)->request.context == from)
            block_at(walk.id)->request.context = to;
}

/* A name for a context whose handle may name another one: its record's address, which is no handle
 * of the driver's. */
static CUcontext placeholder_of(const struct sc_context *context)
{
    return (CUcontext)(uintptr_t)context;
}

void sc_pinned_context_unnamed(const struct sc_context *context)
{
    rename_blocks(context->handle, placeholder_of(context));
}

void sc_pinned_context_named(const struct sc_context *context)
{
    rename_blocks(placeholder_of(context), context->handle);
}

/* Removes a block from the context and returns it. 0: it has none. */
static uintptr_t take_block_of(CUcontext context)
{
    SC_LOCKED(&lock);
    SC_GRID_EACH (walk, &grid, 0, SIZE_MAX) {
        if (block_at(walk.id)->request.context != context)
            continue;
        block_at(walk.id)->request.context = NULL;
        return start_of(block_at(walk.id));
    }
    return 0;
}

/* Drops the context's blocks that are not registered any more: the context has ended, and with it
 * the registration. */
void sc_pinned_context_gone(const struct sc_context *context)
{
    uintptr_t start;
    if (is_in_child())
        return;
    while ((start = take_block_of(placeholder_of(context))) != 0) {
        if (!is_registered(start))
            drop_block(start);
    }
}
