/* graph_memory.c: what allocation nodes have at the moment. */
#ifndef SIM_GRAPH_MEMORY_H
#define SIM_GRAPH_MEMORY_H

#include "sim.h"

/* The device gets room for so much more than is allocated now. False: it has none. */
bool sim_graph_memory_reserve_locked(CUdevice device, size_t bytes);
/* The node's memory is allocated. False: the device has no room. */
bool sim_graph_memory_take_locked(uintptr_t address);
bool sim_graph_memory_is_live_locked(uintptr_t address);
/* What nobody uses is given up. */
void sim_graph_memory_trim_locked(CUdevice device);
/* It is freed. False: it is not allocated. */
bool sim_graph_memory_give_locked(uintptr_t address);

#endif
