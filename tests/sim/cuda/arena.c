/* Blocks of device, pinned and managed memory. */
#include "engine.h"
#include "graph_memory.h"
#include "memory.h"
#include "migrate.h"
#include "virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST_SHIFT 9 /* 512 bytes, the driver's alignment; small blocks share pages, as there */
#define MOST_SHIFT 34
#define CLASSES (MOST_SHIFT - LEAST_SHIFT + 1)
#define LAST_REGIONS 4 /* for the largest class */
#define COMMIT_BYTES ((size_t)1 << 20)
#define RETURN_SHIFT 26 /* blocks from here on give their pages back when freed */

struct block {
    size_t size; /* as asked for; 0 when free */
    uint32_t next_free;
    unsigned flags;
    CUdevice device;
    CUcontext context;
    CUmemoryPool pool;
    bool of_graph;
    bool exported;
    struct sim_fence freed; /* where a stream is to free it; no stream: it is free */
    unsigned long long id;
};

struct class
{
    struct block *blocks;
    size_t made, committed; /* blocks ever used; bytes accessible */
    uint32_t first_free;    /* index + 1 */
};

struct arena {
    char *base, *alias;
    int file;
    struct class classes[CLASSES];
};

static struct arena arenas[3];          /* PINNED, MANAGED, DEVICE */
static size_t region = (size_t)8 << 30; /* addresses for the blocks of one class */

static struct arena *arena_of_kind(enum sim_memory_kind kind)
{
    return &arenas[kind - MEMORY_PINNED];
}

static void *reserve(size_t bytes, int protection, int file)
{
    int flags = MAP_NORESERVE | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
    void *at = mmap(NULL, bytes, protection, flags, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

static size_t region_bytes(unsigned c)
{
    return c == CLASSES - 1 ? LAST_REGIONS * region : region;
}

static size_t arena_bytes(void)
{
    return (CLASSES - 1) * region + LAST_REGIONS * region;
}

/* Valgrind, or ulimit -v, leaves less room for addresses: then there are fewer for each class. An
 * emulator may have room, and takes seconds over each mapping of so much. */
static void fit_regions(void)
{
    while (region > sim_options.region && sim_options.region > 0)
        region /= 2;
    for (; region > SIM_REGION_MIN && sim_options.region == 0; region /= 2) {
        size_t all = (2 + 2 + 1) * arena_bytes();
        void *room = reserve(2 * all, PROT_NONE, -1);
        if (room) {
            munmap(room, 2 * all);
            return;
        }
    }
}

/* Device memory keeps its file, which other processes map. */
static int start_arena(struct arena *arena, bool doubled)
{
    arena->file = memfd_create(doubled ? "sim-gpu-host-memory" : "sim-gpu-memory", MFD_CLOEXEC);
    if (arena->file < 0 || ftruncate(arena->file, (off_t)arena_bytes()) != 0)
        return -errno;
    if (doubled)
        arena->alias = reserve(arena_bytes(), PROT_NONE, arena->file);
    arena->base = reserve(arena_bytes(), PROT_NONE, arena->file);
    if (doubled)
        close(arena->file);
    if (!arena->base || (doubled && !arena->alias))
        return -ENOMEM;
    for (unsigned c = 0; c < CLASSES; c++) {
        size_t count = region_bytes(c) >> (c + LEAST_SHIFT);
        if (count > 0) {
            arena->classes[c].blocks =
                reserve(count * sizeof(struct block), PROT_READ | PROT_WRITE, -1);
        }
        if (count > 0 && !arena->classes[c].blocks)
            return -ENOMEM;
    }
    return 0;
}

int sim_memory_start(void)
{
    fit_regions();
    int error = start_arena(arena_of_kind(MEMORY_PINNED), true);
    if (error == 0)
        error = start_arena(arena_of_kind(MEMORY_MANAGED), true);
    return error ? error : start_arena(arena_of_kind(MEMORY_DEVICE), false);
}

static unsigned class_for(size_t size)
{
    unsigned shift =
        size <= ((size_t)1 << LEAST_SHIFT) ? LEAST_SHIFT : 64 - (unsigned)__builtin_clzl(size - 1);
    return shift - LEAST_SHIFT;
}

/* Makes room for one more block at the end of the class's region. */
static bool extend(struct arena *arena, unsigned c)
{
    struct class *class = &arena->classes[c];
    size_t end = (class->made + 1) << (c + LEAST_SHIFT);
    if (end > region_bytes(c))
        return false;
    if (end > class->committed) {
        size_t more = class->committed > COMMIT_BYTES ? class->committed : COMMIT_BYTES;
        size_t target = class->committed + more < end ? end : class->committed + more;
        target = target < region_bytes(c) ? target : region_bytes(c);
        size_t from = c * region + class->committed;
        size_t bytes = target - class->committed;
        if (mprotect(arena->base + from, bytes, PROT_READ | PROT_WRITE) != 0 ||
            (arena->alias && mprotect(arena->alias + from, bytes, PROT_READ | PROT_WRITE) != 0))
            return false;
        class->committed = target;
    }
    class->made++;
    return true;
}

static bool is_free_now(const struct block *block)
{
    return !block->freed.stream || sim_stream_reached(block->freed.stream, block->freed.seq);
}

/* The one that was freed last: of those that no stream has still to free, where `after` is NULL.
 * Index + 1, 0 for none. */
static uint32_t take_freed_locked(struct class *class, struct sim_fence *after)
{
    uint32_t *link = &class->first_free;
    while (*link && !after && !is_free_now(&class->blocks[*link - 1]))
        link = &class->blocks[*link - 1].next_free;
    uint32_t taken = *link;
    if (!taken)
        return 0;
    struct block *block = &class->blocks[taken - 1];
    *link = block->next_free;
    if (after)
        *after = block->freed;
    else if (block->freed.stream)
        sim_stream_unref_locked(block->freed.stream);
    return taken;
}

/* What nodes allocate is taken when their graph runs (graph_memory.c), and managed memory when it
 * is used, of which nothing is known. */
static bool take_budget_locked(enum sim_memory_kind kind, size_t size, const struct sim_range *like)
{
    if (kind == MEMORY_PINNED && !like->pool)
        return sim_budget_take_locked(SIM_HOST, size);
    if (kind == MEMORY_MANAGED || like->of_graph)
        return true;
    return like->pool ? sim_pool_take_locked(like->pool, size)
                      : sim_budget_take_locked(like->device, size);
}

static void give_budget_locked(enum sim_memory_kind kind, size_t size, const struct sim_range *like)
{
    if (kind == MEMORY_PINNED && !like->pool)
        sim_budget_give_locked(SIM_HOST, size);
    else if (like->of_graph)
        sim_graph_memory_give_locked(like->base);
    else if (kind != MEMORY_MANAGED && like->pool)
        sim_pool_give_locked(like->pool, size);
    else if (kind == MEMORY_DEVICE)
        sim_budget_give_locked(like->device, size);
}

static uintptr_t allocate_locked(enum sim_memory_kind kind, size_t size,
                                 const struct sim_range *like, struct sim_fence *after)
{
    static unsigned long long ids;
    struct arena *arena = arena_of_kind(kind);
    if (size == 0 || size > (size_t)1 << MOST_SHIFT || !take_budget_locked(kind, size, like))
        return 0;
    unsigned c = class_for(size);
    struct class *class = &arena->classes[c];
    uint32_t freed = take_freed_locked(class, after);
    if (!freed && !extend(arena, c)) {
        give_budget_locked(kind, size, like);
        return 0;
    }
    size_t index = freed ? freed - 1 : class->made - 1;
    class->blocks[index] = (struct block){
        .size = size,
        .flags = like->flags,
        .device = like->device,
        .context = like->context,
        .pool = like->pool,
        .of_graph = like->of_graph,
        .id = ++ids,
    };
    return (uintptr_t)arena->base + c * region + (index << (c + LEAST_SHIFT));
}

uintptr_t sim_memory_alloc_locked(enum sim_memory_kind kind, size_t size,
                                  const struct sim_range *like)
{
    return allocate_locked(kind, size, like, NULL);
}

uintptr_t sim_memory_alloc_in_order_locked(size_t size, const struct sim_range *like,
                                           struct sim_fence *after)
{
    *after = (struct sim_fence){NULL, 0};
    return allocate_locked(MEMORY_DEVICE, size, like, after);
}

static struct block *block_at(uintptr_t address, struct arena **arena, uintptr_t *base)
{
    for (struct arena *a = arenas; a < arenas + 3; a++) {
        size_t offset = address - (uintptr_t)a->base;
        if (address < (uintptr_t)a->base || offset >= arena_bytes())
            continue;
        size_t c = offset / region < CLASSES ? offset / region : CLASSES - 1;
        size_t index = (offset - c * region) >> (c + LEAST_SHIFT);
        *arena = a;
        *base = (uintptr_t)a->base + c * region + (index << (c + LEAST_SHIFT));
        return &a->classes[c].blocks[index];
    }
    return NULL;
}

static void return_pages(struct arena *arena, uintptr_t base, size_t size)
{
    madvise((arena->alias ? arena->alias : arena->base) + (base - (uintptr_t)arena->base), size,
            MADV_REMOVE);
}

void sim_memory_free_in_order_locked(uintptr_t address, CUstream stream, uint64_t seq)
{
    struct arena *arena;
    uintptr_t base;
    struct block *block = block_at(address, &arena, &base);
    if (!block || block->size == 0)
        return;
    if (arena == arena_of_kind(MEMORY_MANAGED))
        sim_migrate_freed(base);
    if (!stream && !block->exported && block->size > (size_t)1 << (RETURN_SHIFT - 1))
        return_pages(arena, base, block->size);
    give_budget_locked(MEMORY_PINNED + (enum sim_memory_kind)(arena - arenas), block->size,
                       &(struct sim_range){.base = base,
                                           .device = block->device,
                                           .pool = block->pool,
                                           .of_graph = block->of_graph});
    struct class *class = &arena->classes[class_for(block->size)];
    if (block->exported) {
        block->size = 0;
        return;
    }
    if (stream)
        sim_stream_ref_locked(stream);
    block->freed = (struct sim_fence){stream, seq};
    block->size = 0;
    block->next_free = class->first_free;
    class->first_free = (uint32_t)(block - class->blocks) + 1;
}

void sim_memory_free_locked(uintptr_t address)
{
    sim_memory_free_in_order_locked(address, NULL, 0);
}

void sim_memory_find_locked(uintptr_t address, struct sim_range *range)
{
    struct arena *arena = NULL;
    uintptr_t base = 0;
    struct block *block = block_at(address, &arena, &base);
    if (!block) {
        if (!sim_registry_find_locked(address, range) && !sim_virtual_find_locked(address, range))
            *range = (struct sim_range){.kind = MEMORY_PAGEABLE};
        return;
    }
    if (address - base >= block->size) {
        *range = (struct sim_range){.kind = arena == arenas ? MEMORY_PAGEABLE : MEMORY_INVALID};
        return;
    }
    *range = (struct sim_range){
        .kind = MEMORY_PINNED + (enum sim_memory_kind)(arena - arenas),
        .base = base,
        .size = block->size,
        .flags = block->flags,
        .device = block->device,
        .context = block->context,
        .pool = block->pool,
        .of_graph = block->of_graph,
        .id = block->id,
        .alias = arena->alias ? (uintptr_t)arena->alias - (uintptr_t)arena->base : 0,
    };
}

void sim_memory_export_locked(uintptr_t base)
{
    struct arena *arena;
    uintptr_t block_base;
    block_at(base, &arena, &block_base)->exported = true;
}

int sim_memory_file_locked(uintptr_t base, size_t *offset)
{
    const struct arena *arena = arena_of_kind(MEMORY_DEVICE);
    *offset = base - (uintptr_t)arena->base;
    return arena->file;
}

void sim_memory_drop_context_locked(CUcontext context)
{
    for (struct arena *a = arenas; a < arenas + 3; a++) {
        for (unsigned c = 0; c < CLASSES; c++) {
            for (size_t i = 0; i < a->classes[c].made; i++) {
                struct block *block = &a->classes[c].blocks[i];
                bool ends_with_it = block->context == context && !block->pool;
                if (block->size > 0 && ends_with_it) {
                    sim_memory_free_locked((uintptr_t)a->base + c * region +
                                           (i << (c + LEAST_SHIFT)));
                }
            }
        }
    }
}
