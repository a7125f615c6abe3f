/* Memory of a worker's own that comes and goes, and the pages beside it. */
#ifndef SC_TESTS_STRESS_BLOCKS_H
#define SC_TESTS_STRESS_BLOCKS_H

#include "graphs.h"

enum { BESIDE_PAGES = 3 };

static unsigned char *map_pages(void *address, size_t size_bytes, int flags)
{
    void *mapped = mmap(address, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (mapped == MAP_FAILED)
        fail("mmap: errno %d", errno);
    return mapped;
}

static void make_block(struct block *block)
{
    size_t size_bytes = 16 + below(one_in(4) ? 300000 : one_in(2) ? 5000 : 100);
    unsigned char *bytes = NULL;

    *block = (struct block){.slot.memory = (enum memory)below(MEMORIES)};
    block->slot.home = device_count > 1 ? (int)below((size_t)device_count) : 0;
    switch (block->slot.memory) {
    case PINNED:
        MUST(cudaMallocHost((void **)&bytes, size_bytes));
        block->base = bytes;
        break;
    case PORTABLE:
        MUST(cudaHostAlloc((void **)&bytes, size_bytes, cudaHostAllocPortable));
        block->base = bytes;
        break;
    case REGISTERED: /* amid pages that are not */
        block->base_bytes = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        block->mapped_bytes = block->base_bytes + 2 * BESIDE_PAGES * PAGE_BYTES;
        block->mapped = map_pages(NULL, block->mapped_bytes, 0);
        block->base = block->mapped + BESIDE_PAGES * PAGE_BYTES;
        bytes = block->base + (block->base_bytes - size_bytes) / 2;
        MUST(cudaHostRegister(block->base, block->base_bytes, cudaHostRegisterDefault));
        break;
    case HEAP:
        bytes = block->base = memory_of(size_bytes);
        MUST(cudaHostRegister(bytes, size_bytes, cudaHostRegisterDefault));
        break;
    default:
        bytes = block->base = memory_of(size_bytes);
    }
    fill_slot(&block->slot, bytes, size_bytes);
}

/* When nothing of it is in flight: its owner has waited. */
static void end_block(struct block *block)
{
    if (!block->slot.host.bytes)
        return;
    host_may_write(&block->slot.host);
    host_may_write(&block->slot.device);
    check_slot(&block->slot);
    enum memory memory = block->slot.memory;
    empty_slot(&block->slot);
    if (memory == PINNED || memory == PORTABLE)
        MUST(cudaFreeHost(block->base));
    if (memory == REGISTERED || memory == HEAP)
        MUST(cudaHostUnregister(block->base));
    if (memory == REGISTERED)
        MUST(munmap(block->mapped, block->mapped_bytes));
    if (memory == HEAP || memory == PAGEABLE)
        free(block->base);
    *block = (struct block){0};
}

static void step_block(void)
{
    struct block *block = &me->blocks[below(BLOCKS)];

    if (one_in(2))
        end_block(block);
    if (!block->slot.host.bytes)
        make_block(block);
}

/* The pages beside registered ones are protected, dropped, mapped anew; a copy runs meanwhile. */
static void step_pages_beside(void)
{
    struct block *block = &me->blocks[below(BLOCKS)];
    struct lane *lane = any_lane();

    if (!block->slot.host.bytes || block->slot.memory != REGISTERED)
        return;
    unsigned char *after = block->base + block->base_bytes;
    size_t size_bytes = BESIDE_PAGES * PAGE_BYTES;
    if (one_in(2))
        copy_down(lane, &block->slot, &block->slot);
    else
        copy_up(lane, &block->slot, &block->slot);
    switch (below(4)) {
    case 0:
        MUST(mprotect(after, PAGE_BYTES, PROT_NONE));
        MUST(mprotect(after, PAGE_BYTES, PROT_READ | PROT_WRITE));
        break;
    case 1:
        map_pages(after, size_bytes, MAP_FIXED);
        MUST(munmap(map_pages(NULL, size_bytes, 0), size_bytes));
        break;
    case 2:
        MUST(madvise(block->mapped, size_bytes, MADV_DONTNEED));
        if (block->mapped[size_bytes - 1] != 0)
            fail("dropped pages are not empty");
        break;
    default:
        map_pages(block->mapped, size_bytes, MAP_FIXED);
    }
    memset(after, (int)below(256), size_bytes);
    memset(block->mapped, (int)below(256), size_bytes);
    if (one_in(2))
        check_host(&block->slot);
}

#endif
