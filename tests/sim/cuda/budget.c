/* How much is taken of each device's memory, and of what the host may pin. */
#include "memory.h"

static size_t taken[SIM_MAX_DEVICES], pinned;

static size_t *counter_of(CUdevice device)
{
    return device == SIM_HOST ? &pinned : &taken[device];
}

static size_t limit_of(CUdevice device)
{
    if (device == SIM_HOST)
        return sim_options.host_memory ? sim_options.host_memory : SIZE_MAX;
    return sim_options.device_memory[device];
}

bool sim_budget_take_locked(CUdevice device, size_t bytes)
{
    size_t *counter = counter_of(device);
    if (bytes > limit_of(device) - *counter)
        return false;
    *counter += bytes;
    return true;
}

void sim_budget_give_locked(CUdevice device, size_t bytes)
{
    *counter_of(device) -= bytes;
}

size_t sim_budget_free_locked(CUdevice device)
{
    return limit_of(device) - *counter_of(device);
}
