/* The memory that all share: areas of several kinds, cut into slots that do not care for pages, and
 * gaps between them whose bytes never change and that everybody may read at any time. */
#ifndef SC_TESTS_STRESS_WORLD_H
#define SC_TESTS_STRESS_WORLD_H

#include "lanes.h"

#include <sys/mman.h>

enum { AREAS_MAX = 16, GAPS_MAX = 4096, SLOTS_MAX = 2048, BOXES = 8, OBJECT_BYTES = 64 };

struct area {
    enum memory memory;
    unsigned char *base, *bytes;
    size_t base_bytes, size_bytes, used_bytes;
};

struct gap {
    unsigned char *bytes;
    size_t size_bytes;
    uint64_t key;
};

/* A slot that waits for its next owner, with what guards it: all of that in pinned memory. */
struct box {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct slot *slot;
};

static struct area areas[AREAS_MAX];
static unsigned area_count;
static struct gap gaps[GAPS_MAX];
static unsigned gap_count;
static struct slot slots[SLOTS_MAX];
static unsigned slot_count;
static struct box *boxes[BOXES];

static struct area *make_area(enum memory memory, size_t size_bytes)
{
    struct area *area = &areas[area_count++];
    size_t whole = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

    *area = (struct area){.memory = memory, .size_bytes = size_bytes};
    switch (memory) {
    case PINNED:
        MUST(cudaMallocHost((void **)&area->bytes, size_bytes));
        area->base = area->bytes;
        break;
    case PORTABLE:
        MUST(cudaHostAlloc((void **)&area->bytes, size_bytes,
                           cudaHostAllocPortable | cudaHostAllocMapped));
        area->base = area->bytes;
        break;
    case REGISTERED:
        area->base_bytes = whole;
        area->base = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (area->base == MAP_FAILED)
            fail("mmap: errno %d", errno);
        area->bytes = area->base;
        MUST(cudaHostRegister(area->bytes, size_bytes, cudaHostRegisterDefault));
        break;
    case HEAP:
        area->base = memory_of(size_bytes + 100);
        area->bytes = area->base + 1 + below(99);
        MUST(cudaHostRegister(area->bytes, size_bytes, cudaHostRegisterDefault));
        break;
    default:
        area->base = area->bytes = memory_of(size_bytes);
    }
    return area;
}

static void end_area(struct area *area)
{
    switch (area->memory) {
    case PINNED:
    case PORTABLE:
        MUST(cudaFreeHost(area->bytes));
        break;
    case REGISTERED:
        MUST(cudaHostUnregister(area->bytes));
        MUST(munmap(area->base, area->base_bytes));
        break;
    case HEAP:
        MUST(cudaHostUnregister(area->bytes)); /* fall through */
    default:
        free(area->base);
    }
}

static void add_gap(unsigned char *bytes, size_t size_bytes)
{
    if (size_bytes == 0 || gap_count == GAPS_MAX)
        return;
    gaps[gap_count] = (struct gap){bytes, size_bytes, mixed(seed ^ gap_count)};
    make_bytes(bytes, size_bytes, gaps[gap_count].key);
    gap_count++;
}

/* The next bytes of the area, with a gap before them; NULL if there are not so many. */
static unsigned char *carve(struct area *area, size_t size_bytes, size_t alignment)
{
    size_t begin = area->used_bytes + (one_in(3) ? 0 : below(96));
    uintptr_t address = (uintptr_t)area->bytes + begin;
    begin += (alignment - address % alignment) % alignment;
    if (begin + size_bytes > area->size_bytes)
        return NULL;
    add_gap(area->bytes + area->used_bytes, begin - area->used_bytes);
    area->used_bytes = begin + size_bytes;
    return area->bytes + begin;
}

/* The rest of it, whose bytes nobody owns. */
static void close_area(struct area *area)
{
    add_gap(area->bytes + area->used_bytes, area->size_bytes - area->used_bytes);
    area->used_bytes = area->size_bytes;
}

/* The host's bytes are there; the device's are made, and both are filled. */
static void fill_slot(struct slot *slot, unsigned char *bytes, size_t size_bytes)
{
    slot->host.bytes = bytes;
    slot->host.size_bytes = slot->device.size_bytes = size_bytes;
    slot->host.pageable = slot->memory == PAGEABLE;
    slot->host.wanted = memory_of(size_bytes);
    slot->device.wanted = memory_of(size_bytes);
    make_bytes(slot->host.wanted, size_bytes, random_word());
    make_bytes(slot->device.wanted, size_bytes, random_word());
    memcpy(slot->host.bytes, slot->host.wanted, size_bytes);
    on_device(slot->home);
    MUST(cudaMalloc((void **)&slot->device.bytes, size_bytes));
    MUST(cudaMemcpy(slot->device.bytes, slot->device.wanted, size_bytes, cudaMemcpyHostToDevice));
    MUST(cudaStreamSynchronize(cudaStreamLegacy));
    for (int i = 0; i < device_count; i++) {
        on_device(i);
        MUST(cudaEventCreateWithFlags(&slot->events[i], cudaEventDisableTiming));
    }
}

/* Nothing of it is in flight. */
static void empty_slot(struct slot *slot)
{
    for (int i = 0; i < device_count; i++)
        MUST(cudaEventDestroy(slot->events[i]));
    MUST(cudaFree(slot->device.bytes));
    free(slot->host.wanted);
    free(slot->device.wanted);
    *slot = (struct slot){0};
}

static size_t any_slot_size(size_t most)
{
    size_t kind = below(10);
    size_t limit = kind < 5 ? 64 : kind < 8 ? PAGE_BYTES : SLOT_BYTES_MAX;
    return 8 + below(limit < most ? limit : most);
}

static bool add_slot(struct area *area, size_t most)
{
    size_t size_bytes = any_slot_size(most);
    unsigned char *bytes = carve(area, size_bytes, 1);

    if (!bytes || slot_count == SLOTS_MAX)
        return false;
    slots[slot_count].number = slot_count;
    slots[slot_count].memory = area->memory;
    slots[slot_count].home = (int)slot_count % device_count;
    fill_slot(&slots[slot_count++], bytes, size_bytes);
    return true;
}

/* Several slots to the page, for every kind of memory; then one large area each. */
static void make_world(unsigned threads)
{
    static const struct {
        enum memory memory;
        size_t size_bytes, most;
    } kinds[] = {
        {PINNED, 4096, 64},
        {PINNED, 16 << 10, 256},
        {PORTABLE, 4096, 100},
        {REGISTERED, 8192, 128},
        {HEAP, 24 << 10, 600},
        {PINNED, 200 << 10, 40000},
        {REGISTERED, 128 << 10, 20000},
        {HEAP, 300 << 10, 30000},
        {PORTABLE, 2 << 20, 65000},
        {PAGEABLE, 100 << 10, 65000},
    };

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct area *area = make_area(kinds[i].memory, kinds[i].size_bytes);
        unsigned misses = 0;
        for (unsigned count = 0; count < threads * 6 && misses < 4;) {
            if (add_slot(area, kinds[i].most))
                count++;
            else
                misses++;
        }
    }
}

/* Room in pinned memory of a page with slots on it, if `shared`, or of an area of such objects. */
static void *make_object(bool shared, size_t size_bytes)
{
    static struct area *objects;
    unsigned char *bytes = NULL;

    for (unsigned i = 0; shared && !bytes && i < area_count; i++) {
        struct area *area = &areas[below(area_count)];
        if (area->memory != PAGEABLE)
            bytes = carve(area, size_bytes, OBJECT_BYTES);
    }
    if (!objects)
        objects = make_area(PINNED, 32 << 10);
    if (!bytes)
        bytes = carve(objects, size_bytes, OBJECT_BYTES);
    if (!bytes)
        fail("no room for an object");
    memset(bytes, 0, size_bytes);
    return bytes;
}

static void make_boxes(void)
{
    for (unsigned i = 0; i < BOXES; i++) {
        boxes[i] = make_object(i % 2, sizeof *boxes[i]);
        pthread_mutex_init(&boxes[i]->mutex, NULL);
        pthread_cond_init(&boxes[i]->changed, NULL);
    }
}

static void make_captures_lock(void)
{
    captures = make_object(true, sizeof *captures);
    MUST(pthread_rwlock_init(captures, NULL));
}

static void check_gap(const struct gap *gap)
{
    unsigned char wanted[PAGE_BYTES];

    for (size_t at = 0; at < gap->size_bytes; at += sizeof wanted) {
        size_t piece = gap->size_bytes - at < sizeof wanted ? gap->size_bytes - at : sizeof wanted;
        for (size_t i = 0; i < piece; i += 8) {
            uint64_t word = mixed(gap->key + at + i);
            memcpy(wanted + i, &word, piece - i < 8 ? piece - i : 8);
        }
        expect_bytes(gap->bytes + at, wanted, piece, "bytes that nobody writes");
    }
}

/* When no worker is left. */
static void check_world(void)
{
    for (unsigned i = 0; i < slot_count; i++)
        check_slot(&slots[i]);
    for (unsigned i = 0; i < gap_count; i++)
        check_gap(&gaps[i]);
}

static void end_world(void)
{
    for (unsigned i = 0; i < slot_count; i++)
        empty_slot(&slots[i]);
    for (unsigned i = 0; i < area_count; i++)
        end_area(&areas[i]);
}

#endif
