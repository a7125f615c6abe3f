#include "track/frozen.h"

#include "track/poison.h"

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

void sc_frozen_written(struct sc_frozen *frozen, const struct sc_shape *shape,
                       const struct sc_fold *fold)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        const struct sc_frozen_memory *memory = &frozen->memories[i];
        if (sc_shapes_folded_touch(&memory->shape, &memory->fold, shape, fold))
            drop(frozen, i);
    }
}

void sc_frozen_named(struct sc_frozen *frozen, uintptr_t address)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        const struct sc_frozen_memory *memory = &frozen->memories[i];
        uintptr_t end = memory->shape.address + sc_shape_hull_bytes(&memory->shape);
        if (address >= memory->base && address < end)
            drop(frozen, i);
    }
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
}

void sc_frozen_changed(struct sc_frozen *frozen)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        frozen->memories[i].graph = 0;
        if (!frozen->memories[i].exec_count)
            drop(frozen, i);
    }
}

void sc_frozen_instantiated(struct sc_frozen *frozen, uintptr_t graph, uintptr_t exec)
{
    sc_frozen_gone(frozen, exec);
    for (unsigned i = 0; i < frozen->count; i++) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        if (memory->graph == graph && memory->exec_count < SC_FROZEN_EXECS_MAX)
            memory->execs[memory->exec_count++] = exec;
    }
}

static bool may_write(const struct sc_graph_write *write, int32_t thread,
                      const struct sc_frozen_memory *memory)
{
    if (!write || (write->named.count && thread == memory->hazard.event.thread))
        return true;
    return sc_graph_write_may_touch(write, memory->shape.address,
                                    sc_shape_hull_bytes(&memory->shape), memory->base);
}

void sc_frozen_launched(struct sc_frozen *frozen, uintptr_t exec, int32_t thread,
                        const struct sc_graph_write *write)
{
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
