/* How much is taken of each device's memory, and of what the host may pin. */
#include "graph_memory.h"
#include "memory.h"

static size_t taken[SIM_MAX_DEVICES], pinned;
static size_t own[SIM_MAX_DEVICES]; /* the driver's own, of which NVML alone knows */

static size_t *counter_of(CUdevice device)
{
    return device == SIM_HOST ? &pinned : &taken[device];
}

static size_t limit_of(CUdevice device)
{
    if (device == SIM_HOST)
        return sim_options.host_memory ? sim_options.host_memory : SIZE_MAX;
    uint64_t most = sim_options.device_memory[device], others = sim_options.others_memory;
    return most > others ? most - others : 0;
}

static bool has_room(CUdevice device, size_t bytes)
{
    return bytes <= limit_of(device) - *counter_of(device);
}

static bool make_room_locked(CUdevice device, size_t bytes)
{
    if (!has_room(device, bytes) && device != SIM_HOST)
        sim_pools_yield_locked(device);
    bool had_room = has_room(device, bytes);
    if (!had_room && device != SIM_HOST)
        sim_graph_memory_trim_locked(device);
    return had_room;
}

static bool take_locked(CUdevice device, size_t bytes)
{
    bool can = has_room(device, bytes);
    *counter_of(device) += can ? bytes : 0;
    return can;
}

bool sim_budget_take_locked(CUdevice device, size_t bytes)
{
    make_room_locked(device, bytes);
    return take_locked(device, bytes);
}

bool sim_budget_take_apart_locked(CUdevice device, size_t bytes)
{
    return make_room_locked(device, bytes) && take_locked(device, bytes);
}

void sim_budget_give_locked(CUdevice device, size_t bytes)
{
    *counter_of(device) -= bytes;
}

size_t sim_budget_free_locked(CUdevice device)
{
    return limit_of(device) - *counter_of(device);
}

void sim_budget_own_locked(CUdevice device, size_t bytes, bool taken_back)
{
    own[device] = taken_back ? own[device] - bytes : own[device] + bytes;
}

int sim_cuda_used(int place, unsigned long long *bytes)
{
    int device = sim_device_at(place);
    if (device < 0)
        return 1;
    sim_lock();
    *bytes = taken[device] + own[device];
    sim_unlock();
    return 0;
}
