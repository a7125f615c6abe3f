/* Where pages of managed memory lie, for who counts page faults (sim_hooks.h): in pieces of 2 MB,
 * each on one device or on the host. A device that touches a piece which lies elsewhere faults, and
 * the piece comes to it; where it has no room, the piece that it has had for longest goes to the
 * host. Nobody looks: nothing is noted, and no byte moves in any case. */
#include "migrate.h"

#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

enum { PIECE_BYTES = 2 << 20, THRASHES_AT = 4 };

struct piece {
    uint64_t since; /* counts up; 0: it lies on the host */
    int device;
    unsigned moves; /* to a device */
};

struct block {
    struct block *next;
    uintptr_t base;
    size_t size, count;
    struct piece pieces[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below; a leaf */
static struct block *blocks;
static size_t held[SIM_MAX_DEVICES]; /* pieces */
static uint64_t clock_now;

static struct block *find(const struct sim_range *range)
{
    struct block *block = blocks;
    while (block && block->base != range->base)
        block = block->next;
    if (block)
        return block;
    size_t count = (range->size + PIECE_BYTES - 1) / PIECE_BYTES;
    block = calloc(1, sizeof *block + count * sizeof *block->pieces);
    if (!block)
        return NULL;
    block->base = range->base;
    block->size = range->size;
    block->count = count;
    block->next = blocks;
    blocks = block;
    return block;
}

static void forget(struct block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->pieces[i].since)
            held[block->pieces[i].device]--;
    free(block);
}

void sim_migrate_freed(uintptr_t base)
{
    pthread_mutex_lock(&lock);
    for (struct block **link = &blocks; *link; link = &(*link)->next) {
        struct block *block = *link;
        if (block->base != base)
            continue;
        *link = block->next;
        forget(block);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static void tell(sim_managed_fn *to, enum sim_managed_kind kind, uintptr_t address, int from,
                 int at)
{
    to(&(struct sim_managed){.kind = kind,
                             .address = address,
                             .value = kind == SIM_MANAGED_FAULT ? 1 : PIECE_BYTES,
                             .from = from,
                             .to = at,
                             .is_eviction = kind == SIM_MANAGED_TO_HOST});
}

/* The piece that the device has had for longest. */
static void evict(int device, sim_managed_fn *to)
{
    struct piece *oldest = NULL;
    uintptr_t address = 0;
    for (struct block *block = blocks; block; block = block->next) {
        for (size_t i = 0; i < block->count; i++) {
            struct piece *piece = &block->pieces[i];
            if (!piece->since || piece->device != device ||
                (oldest && piece->since > oldest->since))
                continue;
            oldest = piece;
            address = block->base + i * PIECE_BYTES;
        }
    }
    if (!oldest)
        return;
    oldest->since = 0;
    held[device]--;
    tell(to, SIM_MANAGED_TO_HOST, address, device, 0);
}

static void fetch(struct piece *piece, uintptr_t address, int device, size_t room,
                  sim_managed_fn *to)
{
    bool was_elsewhere = piece->since != 0;
    int from = piece->device;
    tell(to, SIM_MANAGED_FAULT, address, device, 0);
    if (was_elsewhere)
        held[from]--;
    piece->since = 0;
    if ((held[device] + 1) * PIECE_BYTES > room)
        evict(device, to);
    tell(to, was_elsewhere ? SIM_MANAGED_BETWEEN : SIM_MANAGED_TO_DEVICE, address,
         was_elsewhere ? from : 0, device);
    if (++piece->moves == THRASHES_AT)
        tell(to, SIM_MANAGED_THRASHING, address, 1 << device, 0);
    *piece = (struct piece){.since = ++clock_now, .device = device, .moves = piece->moves};
    held[device]++;
}

void sim_migrate_touched(const struct sim_range *range, uintptr_t address, size_t bytes, int device,
                         size_t room, sim_managed_fn *to)
{
    pthread_mutex_lock(&lock);
    struct block *block = find(range);
    size_t first = (address - range->base) / PIECE_BYTES;
    size_t last = (address - range->base + bytes - 1) / PIECE_BYTES;
    for (size_t i = first; block && i <= last && i < block->count; i++) {
        struct piece *piece = &block->pieces[i];
        if (!piece->since || piece->device != device)
            fetch(piece, block->base + i * PIECE_BYTES, device, room, to);
    }
    pthread_mutex_unlock(&lock);
}
