#include "interpose/memory/pinned.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/mutex.h"
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

/* A pinned allocation that the program asks for, and how the library serves it. */
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

/* How many small blocks are served, and how much padding of larger ones. A small block takes 60 us
 * to allocate and free; one of many that the driver packs into a page takes 2 us. */
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

/* Has the device this property? No also if the driver does not know it. */
static bool has_attribute(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return sc_real.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS && value;
}

/* Is registered memory as good on this device as memory that the driver allocates? The device must
 * know it by the host's address, and must have memory of its own. For other devices the driver
 * allocates. */
static bool device_is_fit(CUdevice device)
{
    return has_attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) &&
           has_attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) &&
           has_attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) &&
           !has_attribute(device, CU_DEVICE_ATTRIBUTE_INTEGRATED) &&
           !has_attribute(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
}

/* Can all devices of the process use memory that the library allocates and registers? A program may
 * use the memory on any of them. */
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

/* Are pages protected by userfaultfd (and not by mprotect) in this process? Decided at the first
 * allocation: swap that is turned on later changes nothing. */
static bool chooses_userfaultfd(void)
{
    static _Atomic int chosen;
    return sc_huge_pages_remember(&chosen, query_choice);
}

/* Is the allocation for an area that it shares with others? Only where userfaultfd protects pages:
 * to protect a few of an area's pages then costs what they cost alone. */
static bool fits_area(size_t size_bytes)
{
    return size_bytes <= SC_AREAS_MAX_BYTES && chooses_userfaultfd() && sc_guard_serves_areas();
}

/* Does the library serve an allocation of this size and these flags, and not the driver? Not with
 * guard=off, when no page is protected, or pinned=driver. Only the driver has memory with other
 * flags, as write-combined memory. */
static bool is_for_us(size_t size_bytes, unsigned flags)
{
    const unsigned honoured = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    return sc_active() && sc_options.mode != SC_MODE_OFF && sc_options.guard &&
           sc_options.pinned == SC_PINNED_HUGE && size_bytes > 0 && !(flags & ~honoured) &&
           machine_is_fit();
}

/* Is the allocation for huge pages? To protect one huge page takes a third of the time that 256 KB
 * of small pages take. With guard=uffd, small allocations go into a shared area nevertheless, if
 * there is one. */
static bool fits_huge_pages(size_t size_bytes)
{
    bool prefers_areas = sc_options.guard == SC_GUARD_UFFD && fits_area(size_bytes);
    return size_bytes >= MEDIUM_MIN && size_bytes <= SIZE_MAX / 2 && !prefers_areas &&
           sc_huge_pages_are_plenty(size_bytes);
}

/* ---- budgets ---- */

/* Returns the limit that the request counts for. Small blocks are counted by number, as each is
 * slow to make. Larger ones count by their padding, the bytes up to a whole huge page, which are
 * wasted. */
static struct budget *budget_of(const struct request *request)
{
    if (request->size_bytes <= SMALL_MAX)
        return &small_ones;
    return request->size_bytes < LARGE_MIN ? &medium_padding_bytes : &large_padding_bytes;
}

/* Returns how much of its limit the request takes: one block (an allocation of the library's), or
 * its padding in bytes. */
static size_t share_of(const struct request *request)
{
    return request->size_bytes <= SMALL_MAX ? 1 : request->padding_bytes;
}

/* Takes the request out of its limit again, when its block (an allocation of the library's) is gone
 * or was not made. */
static void uncharge_budget(const struct request *request)
{
    SC_ASSERT(atomic_load(&budget_of(request)->used) >= share_of(request));
    atomic_fetch_sub(&budget_of(request)->used, share_of(request));
}

/* Counts the request for its limit. False: the limit would be passed, and nothing was counted; the
 * driver serves the request. */
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

/* Makes the tables at the first allocation, and notes whose process they are. False: no memory. */
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

/* Adds a registered block to the tables, so that later calls know it as the library's. False: no
 * memory. */
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

/* Returns where the list of spare blocks (freed by the program, and kept for the next allocation)
 * has this one; for 0: a free place. NULL: there is none. */
static uint32_t *spare_slot_locked(uint32_t id) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    for (unsigned i = 0; i < SPARES_MAX; i++)
        if (spares[i] == id)
            return &spares[i];
    return NULL;
}

/* Maps the huge pages of a block (an allocation of the library's). Where userfaultfd protects pages
 * they lie in areas of their own, if any are left: there parts of the block get locks of their own,
 * and threads do not wait for each other. 0: there are not enough huge pages. */
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

/* Maps the pages of an allocation: huge ones if its size is whole huge pages, else small ones, in a
 * shared area if it fits there. 0: Linux refuses. */
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

/* Forgets the block (an allocation of the library's) and unmaps its pages, when the driver has
 * unregistered them. It is forgotten first: once it is unmapped another thread may get the same
 * address. `epoch` tells the guard that what it knows of mappings there is old. */
static void drop_block(uintptr_t start)
{
    size_t pages_bytes = 0;
    sc_mutex_lock(&lock);
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
    sc_mutex_unlock(&lock);
    atomic_fetch_add(&epoch, 1);
    unmap_pages(start, pages_bytes);
}

/* Registers the pages with the driver, for exactly the bytes that were asked for, so that queries
 * answer as for the driver's own memory. The library's wrappers let the call pass (SC_INSIDE). */
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

/* A block (an allocation of the library's) that is being made. */
struct making {
    const struct request *request;
    uintptr_t start; /* result; 0: the driver is to serve the request, so that a refusal */
};

/* Maps the pages of a new block, registers them and enters the block; undoes all if a step fails,
 * so that the driver serves the request. Runs where the stack has room for the driver
 * (sc_library_threads_call). */
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

/* Makes a block (an allocation of the library's) if its limit allows (charge_budget). 0: it was not
 * made. */
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

/* Can a block (an allocation of the library's) that was made for one request serve the other? Size,
 * flags and context have to be the same, since the driver answers questions about them. */
static bool is_alike(const struct request *a, const struct request *b)
{
    return a->size_bytes == b->size_bytes && a->flags == b->flags && a->context == b->context;
}

/* Takes a block that the program has freed, and that is still registered, for an equal request.
 * With size 0 takes any of the request's context, to be freed. 0: there is none. */
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

/* Makes a block (an allocation of the library's) of whole pages of this size for the request. 0: it
 * was not made. */
static uintptr_t make_in_pages(struct request *request, size_t page_bytes)
{
    request->pages_bytes = round_up(request->size_bytes, page_bytes);
    request->padding_bytes =
        request->pages_bytes - round_up(request->size_bytes, SC_SMALL_PAGE_BYTES);
    return make_within_budget(request);
}

/* Returns a block for the program: one that was freed and kept, or a new one, of huge pages if it
 * is large. 0: the driver is to allocate it. */
static uintptr_t take_block(size_t size_bytes, unsigned flags)
{
    struct request request = {.size_bytes = size_bytes, .flags = flags};
    if (!is_for_us(size_bytes, flags))
        return 0;
    /* A new context may have the handle of one that has ended, and must not get the blocks that
     * were kept for that. */
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

/* Called in place of cuMemHostAlloc: allocates pinned memory whose pages can be protected at little
 * cost. NULL: the driver is to do so. */
void *sc_pinned_allocate(size_t size_bytes, unsigned flags)
{
    int saved = errno;
    uintptr_t start = take_block(size_bytes, flags);
    errno = saved;
    return (void *)start;
}

/* ---- questions ---- */

/* Returns where the pages of the block end that begins at the address; 0: no block of the library
 * begins there. In a forked child none is the library's. The lock is taken only if the look-up
 * meets a change. */
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

/* Does the address lie in a block of the library? Asked by the guard in a handler, so without a
 * lock: false also while the table is being changed. */
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

/* Does a block begin there that the program has not freed? One that is kept for reuse is no longer
 * the program's. */
static bool is_live(uintptr_t start)
{
    SC_LOCKED(&lock);
    uint32_t id = sc_grid_find_at_locked(&grid, start);
    return id && start_of(block_at(id)) == start && !block_at(id)->spare;
}

/* Does any block of the library lie there? Asked before the program registers memory: the driver
 * refuses to register memory of its own, for which the program takes the library's. */
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

/* May the freed block stay registered, to be returned again? A program that allocates and frees all
 * the time would be slower otherwise: of small blocks the driver, too, returns the same ones again.
 * Not for another context, and not twice. */
static bool may_become_spare(const struct block *block, CUcontext current)
{
    return !block->spare && block->request.context == current &&
           pages_of(block) <= SC_HUGE_PAGE_BYTES;
}

/* Keeps a freed block for the next allocation, since to register pages takes long. The ledger of
 * memory counts it as the library's from then on. False: it may not be kept, or there is no
 * room. */
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

/* Waits for the current context, as cuMemFreeHost does, if the block may be kept then. False: it
 * did not. Something captures or may, which a wait would break, or the block is not small. */
static bool wait_to_keep(uintptr_t start)
{
    if (sc_pinned_end(start) - start > SC_HUGE_PAGE_BYTES || !sc_real.cuCtxSynchronize)
        return false;
    sc_capturing_wait_begins();
    bool waited = !sc_capturing_seen() && sc_real.cuCtxSynchronize() == CUDA_SUCCESS;
    sc_capturing_wait_ends();
    return waited;
}

/* Waits for the context, as the driver does before it frees, and keeps the block for the next
 * allocation. False: the block is to be freed. */
static bool wait_and_keep(uintptr_t start)
{
    CUcontext current = NULL;
    return sc_real.cuCtxGetCurrent(&current) == CUDA_SUCCESS && wait_to_keep(start) &&
           keep_as_spare(start, current);
}

/* Is it a block of the library that the program has not freed, in the process that has made it? A
 * forked child shares the pages, and the driver there knows of nothing. */
static bool is_ours_and_here(uintptr_t start)
{
    return sc_pinned_end(start) && !is_in_child() && is_live(start);
}

/* Unregisters the block (an allocation of the library's) and unmaps it. Returns what cuMemFreeHost
 * would: the two calls name the same failure differently. */
static CUresult unregister_and_drop(uintptr_t start)
{
    CUresult result = unregister_pages(start);
    int saved = errno;
    if (result == CUDA_SUCCESS)
        drop_block(start);
    errno = saved;
    return result == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED ? CUDA_ERROR_INVALID_VALUE : result;
}

/* Frees pinned memory in place of cuMemFreeHost. A block of the library's is unregistered, or kept
 * for the next allocation; all other memory is the driver's. */
CUresult sc_pinned_free(void *address)
{
    uintptr_t start = (uintptr_t)address;
    SC_NO_CANCELLATION_POINT();
    if (!is_ours_and_here(start))
        return sc_real.cuMemFreeHost(address);
    return wait_and_keep(start) ? CUDA_SUCCESS : unregister_and_drop(start);
}

/* Is any freed block kept for reuse? Asked when the driver has refused an allocation for want of
 * memory. */
bool sc_pinned_keeps_any(void)
{
    SC_LOCKED(&lock);
    for (unsigned i = 0; i < SPARES_MAX; i++)
        if (spares[i])
            return true;
    return false;
}

/* Frees the context's blocks that are kept for reuse, since the driver lacks memory for the
 * program. Returns whether there were any. */
bool sc_pinned_give_up(const struct sc_context *context)
{
    const struct request of_context = {.context = context->handle};
    uintptr_t start;
    bool any = false;
    for (; (start = take_spare(&of_context)) != 0; any = true)
        unregister_and_drop(start);
    return any;
}

/* Is the block (an allocation of the library's) still registered? If the driver has unregistered it
 * with its context, it is unmapped, as the driver's own memory would be. */
static bool is_registered(uintptr_t start)
{
    CUmemorytype type;
    return sc_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, start) ==
           CUDA_SUCCESS;
}

/* Gives all blocks of one context another name. The handle of a context that ends may become
 * another context's, which must not get or lose these blocks. */
static void rename_blocks(CUcontext from, CUcontext to)
{
    if (is_in_child())
        return;
    SC_LOCKED(&lock);
    SC_GRID_EACH (walk, &grid, 0, SIZE_MAX)
        if (block_at(walk.id)->request.context == from)
            block_at(walk.id)->request.context = to;
}

/* Returns a name for a context whose handle may name another one by now: the address of its record,
 * which is no handle of the driver's. */
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

/* Takes a block (an allocation of the library's) from the context, so that it belongs to none, and
 * returns it. 0: the context has none. */
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

/* Called when a context has ended: unmaps its blocks that the driver has unregistered with it. A
 * block (an allocation of the library's) that is registered for all contexts lives on. */
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
