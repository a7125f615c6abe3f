/* Memory that allocation nodes use: taken when a graph is uploaded or runs, and kept for others
 * when it is freed. What is kept counts as used until it is trimmed. */
#include "graph_memory.h"
#include "api.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define UNIT ((size_t)2 << 20)

struct live {
    struct live *next;
    uintptr_t address;
    size_t size;
    CUdevice device;
};

static struct live *all_live;

static struct {
    size_t live; /* allocated now */
    size_t used, used_high, reserved, reserved_high;
} memory[SIM_MAX_DEVICES];

static size_t units(size_t bytes)
{
    return (bytes + UNIT - 1) & ~(UNIT - 1);
}

static struct live **place_of_locked(uintptr_t address)
{
    struct live **at = &all_live;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    return at;
}

static void raise(size_t *high, size_t now)
{
    *high = now > *high ? now : *high;
}

static bool reserve_locked(CUdevice device, size_t bytes)
{
    size_t wanted = units(bytes), have = memory[device].reserved;
    if (wanted > have && !sim_budget_take_locked(device, wanted - have))
        return false;
    raise(&memory[device].reserved, wanted);
    raise(&memory[device].used, bytes);
    raise(&memory[device].reserved_high, memory[device].reserved);
    raise(&memory[device].used_high, memory[device].used);
    return true;
}

/* The node's block, or a size of 0. */
static struct sim_range block_of_locked(uintptr_t address)
{
    struct sim_range range;
    sim_memory_find_locked(address, &range);
    range.size = range.kind == MEMORY_DEVICE ? range.size : 0;
    return range;
}

bool sim_graph_memory_reserve_locked(CUdevice device, size_t bytes)
{
    return reserve_locked(device, memory[device].live + bytes);
}

bool sim_graph_memory_take_locked(uintptr_t address)
{
    const struct sim_range block = block_of_locked(address);
    if (block.size == 0)
        return true;
    bool has_room = reserve_locked(block.device, memory[block.device].live + block.size);
    struct live *live = has_room ? calloc(1, sizeof *live) : NULL;
    if (!live)
        return false;
    *live = (struct live){all_live, address, block.size, block.device};
    all_live = live;
    memory[block.device].live += block.size;
    return true;
}

bool sim_graph_memory_is_live_locked(uintptr_t address)
{
    return *place_of_locked(address) != NULL;
}

bool sim_graph_memory_give_locked(uintptr_t address)
{
    struct live **at = place_of_locked(address), *live = *at;
    if (!live)
        return false;
    *at = live->next;
    memory[live->device].live -= live->size;
    free(live);
    return true;
}

void sim_graph_memory_trim_locked(CUdevice device)
{
    size_t kept = units(memory[device].live);
    memory[device].used = memory[device].live;
    sim_budget_give_locked(device, memory[device].reserved - kept);
    memory[device].reserved = kept;
}

SIM_API(cuDeviceGraphMemTrim, (CUdevice device), device)
{
    if (device < 0 || device >= sim_options.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    sim_graph_memory_trim_locked(device);
    sim_unlock();
    return CUDA_SUCCESS;
}

/* NULL: there is no such attribute. */
static size_t *attribute_of(CUdevice device, CUgraphMem_attribute attribute)
{
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        return &memory[device].used;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        return &memory[device].used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        return &memory[device].reserved;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        return &memory[device].reserved_high;
    default:
        return NULL;
    }
}

SIM_API(cuDeviceGetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attr, void *value),
        device, attr, value)
{
    if (device < 0 || device >= sim_options.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    const size_t *from = attribute_of(device, attr);
    if (!from || !value)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    cuuint64_t bytes = *from;
    sim_unlock();
    memcpy(value, &bytes, sizeof bytes);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attr, void *value),
        device, attr, value)
{
    cuuint64_t wanted = 0;
    if (device < 0 || device >= sim_options.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    bool is_used = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    if (!value || (!is_used && attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&wanted, value, sizeof wanted);
    if (wanted != 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (is_used)
        memory[device].used_high = memory[device].used;
    else
        memory[device].reserved_high = memory[device].reserved;
    sim_unlock();
    return CUDA_SUCCESS;
}
