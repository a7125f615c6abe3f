#include "track/frozen.h"

#include "track/poison.h"

#include "track/own_pages.h"

enum { LAUNCHES = 2 };

bool sc_frozen_add(struct sc_frozen *frozen, const struct sc_frozen_memory *memory)
{
    if (frozen->count == SC_FROZEN_MAX)
        return false;
    frozen->memories[frozen->count++] = *memory;
    return true;
}

static void drop(struct sc_frozen *frozen, unsigned i)
{
    frozen->memories[i] = frozen->memories[--frozen->count];
}

void sc_frozen_used(struct sc_frozen *frozen, const struct sc_device_use *use)
{
    for (unsigned i = frozen->count; i-- > 0;)
        if (sc_device_use_may_write(use, &frozen->memories[i].memory, frozen->memories[i].base))
            drop(frozen, i);
}

unsigned sc_frozen_forget(struct sc_frozen *frozen)
{
    unsigned forgotten = frozen->count;
    frozen->count = 0;
    return forgotten;
}

static bool has_exec(const struct sc_frozen_memory *memory, uintptr_t exec)
{
    for (unsigned i = 0; i < memory->exec_count; i++)
        if (memory->execs[i] == exec)
            return true;
    return false;
}

static void take_exec(struct sc_frozen_memory *memory, uintptr_t exec)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < memory->exec_count; i++)
        if (memory->execs[i] != exec)
            memory->execs[kept++] = memory->execs[i];
    memory->exec_count = kept;
}

void sc_frozen_gone(struct sc_frozen *frozen, uintptr_t handle)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        take_exec(memory, handle);
        if (memory->graph == handle)
            memory->graph = 0;
        if (!memory->graph && !memory->exec_count)
            drop(frozen, i);
    }
    if (frozen->writes)
        sc_graph_writes_forget(frozen->writes, handle);
}

void sc_frozen_changed(struct sc_frozen *frozen)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        frozen->memories[i].graph = 0;
        if (!frozen->memories[i].exec_count)
            drop(frozen, i);
    }
    if (frozen->writes) /* whose node it was is not known */
        sc_graph_writes_forget_all(frozen->writes);
}

void sc_frozen_captured(struct sc_frozen *frozen, uintptr_t graph,
                        const struct sc_graph_write *write)
{
    if (!frozen->writes)
        frozen->writes = sc_pages_map(sizeof *frozen->writes);
    if (frozen->writes && write)
        sc_graph_writes_set(frozen->writes, graph, write);
    else if (frozen->writes)
        sc_graph_writes_forget(frozen->writes, graph);
}

void sc_frozen_instantiated(struct sc_frozen *frozen, uintptr_t graph, uintptr_t exec)
{
    sc_frozen_gone(frozen, exec);
    for (unsigned i = 0; i < frozen->count; i++) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        if (memory->graph == graph && memory->exec_count < SC_FROZEN_EXECS_MAX)
            memory->execs[memory->exec_count++] = exec;
    }
    if (frozen->writes)
        sc_graph_writes_copy(frozen->writes, graph, exec);
}

static bool may_write(const struct sc_graph_write *write, int32_t thread,
                      const struct sc_frozen_memory *memory)
{
    if (!write || (write->named.count && thread == memory->hazard.event.thread))
        return true;
    return sc_graph_write_may_touch(write, memory->memory.shape.address,
                                    sc_shape_hull_bytes(&memory->memory.shape), memory->base);
}

void sc_frozen_launched(struct sc_frozen *frozen, uintptr_t exec, int32_t thread)
{
    const struct sc_graph_write *write =
        frozen->writes ? sc_graph_writes_find(frozen->writes, exec) : NULL;
    for (unsigned i = 0; i < frozen->count; i++) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        if (has_exec(memory, exec))
            memory->launches++;
        else if (may_write(write, thread, memory))
            memory->launches = 0;
    }
}

bool sc_frozen_take(struct sc_frozen *frozen, struct sc_hazard *hazard)
{
    for (unsigned i = 0; i < frozen->count; i++) {
        if (frozen->memories[i].launches < LAUNCHES)
            continue;
        *hazard = frozen->memories[i].hazard;
        drop(frozen, i);
        return true;
    }
    return false;
}
