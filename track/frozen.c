#include "track/frozen.h"

#include <string.h>

#include "common/poison.h"

enum { LAUNCHES = 2 }; /* by so many launches memory is frozen */

/* Returns how many of the pieces are used by no captured work. */
static unsigned count_unused(const struct sc_frozen *frozen)
{
    unsigned count = 0;
    for (unsigned i = 0; i < frozen->count; i++)
        count += frozen->memories[i].is_unused;
    return count;
}

/* Adds a piece of memory. Returns false if there is no room; pieces that captured work uses, and
 * others, have room of their own. */
bool sc_frozen_add(struct sc_frozen *frozen, const struct sc_frozen_memory *memory)
{
    unsigned unused = count_unused(frozen);
    if (memory->is_unused ? unused == SC_FROZEN_UNUSED_MAX
                          : frozen->count - unused == SC_FROZEN_MAX - SC_FROZEN_UNUSED_MAX)
        return false;
    frozen->memories[frozen->count++] = *memory;
    return true;
}

static void remove_memory(struct sc_frozen *frozen, unsigned i)
{
    frozen->memories[i] = frozen->memories[--frozen->count];
}

/* ---- memory that no captured work uses ---- */

/* Returns the bytes by which the memory's fate is decided: what a memset has set, once one has. */
static const struct sc_device_use *watched_bytes(const struct sc_frozen_memory *memory)
{
    return memory->is_set ? &memory->set : &memory->memory;
}

/* Does `whole` use all bytes of `part`? */
static bool covers_bytes(const struct sc_device_use *whole, const struct sc_device_use *part)
{
    if (!sc_shape_is_whole(&whole->shape, &whole->fold))
        return memcmp(&whole->shape, &part->shape, sizeof whole->shape) == 0 &&
               memcmp(&whole->fold, &part->fold, sizeof whole->fold) == 0;
    return whole->shape.address <= part->shape.address &&
           sc_device_use_end(part) <= sc_device_use_end(whole);
}

/* Is the use a memset of all bytes of the memory to another value? What copies and kernels have
 * written is not known. */
static bool sets_other_value(const struct sc_device_use *use, const struct sc_device_use *memory)
{
    bool is_same = memory->direction == SC_MEMSET && memory->fill == use->fill;
    return use->access == SC_DEVICE_WRITES && use->direction == SC_MEMSET && !is_same &&
           covers_bytes(use, memory);
}

/* Updates memory that no captured work uses after this use, and returns whether it is still of
 * interest. The program has to set all of it anew, launch the graph, and read it; every other use
 * ends the search. A kernel may use any memory. */
static bool update_after_use(struct sc_frozen_memory *memory, const struct sc_device_use *use)
{
    if (use->access == SC_DEVICE_NAMES)
        return false;
    if (!sc_device_uses_touch(use, watched_bytes(memory)))
        return true;
    if (use->access == SC_DEVICE_READS)
        return memory->launches > 0 && use->direction == SC_D2H;
    if (!sets_other_value(use, &memory->memory))
        return false;
    memory->set = *use;
    memory->is_set = true;
    memory->launches = 0;
    return true;
}

/* Is memory that no captured work uses still of interest after a launch? Only if the launched exec
 * is one of its graph, and is known not to write it. Other execs may read it. */
static bool is_kept_after_launch(struct sc_frozen_memory *memory, bool is_own,
                                 const struct sc_graph_write *write)
{
    const struct sc_shape *bytes = &watched_bytes(memory)->shape;
    memory->launches += memory->is_set;
    return is_own && write &&
           !sc_graph_write_may_touch(write, bytes->address, sc_shape_hull_bytes(bytes),
                                     memory->base);
}

/* Does the copy to the host show that a launch should have written the memory: does it read nothing
 * but what was set, after a launch? */
static bool reveals(const struct sc_frozen_memory *memory, const struct sc_device_use *read)
{
    return memory->is_unused && memory->launches && sc_device_uses_touch(read, &memory->memory) &&
           covers_bytes(&memory->set, read);
}

/* Notes the copy and fills in the hazard if it shows one: only a copy to the host that reads
 * nothing but what a memset has set does. */
bool sc_frozen_note_copy_to_host(struct sc_frozen *frozen, const struct sc_device_use *use,
                                 struct sc_hazard *hazard)
{
    unsigned i = 0;
    while (i < frozen->count && !reveals(&frozen->memories[i], use))
        i++;
    if (use->access != SC_DEVICE_READS || use->direction != SC_D2H || i == frozen->count)
        return false;
    *hazard = frozen->memories[i].hazard;
    hazard->buffer_address = use->shape.address;
    hazard->buffer_size_bytes = sc_shape_hull_bytes(&use->shape);
    remove_memory(frozen, i);
    return true;
}

/* ---- what happens to memory ---- */

/* Drops memory that captured work uses, if the work may have written it. */
void sc_frozen_note_use(struct sc_frozen *frozen, const struct sc_device_use *use)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        if (memory->is_unused ? !update_after_use(memory, use)
                              : sc_device_use_may_write(use, &memory->memory, memory->base))
            remove_memory(frozen, i);
    }
}

/* Pieces that no captured work uses are read by no launch, and are not counted. */
unsigned sc_frozen_forget(struct sc_frozen *frozen)
{
    unsigned forgotten = frozen->count - count_unused(frozen);
    frozen->count = 0;
    return forgotten;
}

/* Do launches of the exec read the memory? */
static bool has_exec(const struct sc_frozen_memory *memory, uintptr_t exec)
{
    for (unsigned i = 0; i < memory->exec_count; i++)
        if (memory->execs[i] == exec)
            return true;
    return false;
}

/* Removes the exec from those whose launches read the memory. */
static void remove_exec(struct sc_frozen_memory *memory, uintptr_t exec)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < memory->exec_count; i++)
        if (memory->execs[i] != exec)
            memory->execs[kept++] = memory->execs[i];
    memory->exec_count = kept;
}

/* Drops memory that no graph and no exec reads any more. */
void sc_frozen_forget_handle(struct sc_frozen *frozen, uintptr_t handle)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        remove_exec(memory, handle);
        if (memory->graph == handle)
            memory->graph = 0;
        if (!memory->graph && !memory->exec_count)
            remove_memory(frozen, i);
    }
    sc_graph_writes_forget(&frozen->writes, handle);
}

/* Notes that some graph, nobody knows which, was changed: no graph is known any more to read any of
 * the pieces of memory. The execs that were made before still read them. */
void sc_frozen_note_changed(struct sc_frozen *frozen)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        frozen->memories[i].graph = 0;
        if (!frozen->memories[i].exec_count)
            remove_memory(frozen, i);
    }
    sc_graph_writes_forget_all(&frozen->writes); /* it is not known which graph was changed */
}

/* Launches of the exec read and write what its graph says. */
void sc_frozen_note_instantiated(struct sc_frozen *frozen, uintptr_t graph, uintptr_t exec)
{
    sc_frozen_forget_handle(frozen, exec);
    for (unsigned i = 0; i < frozen->count; i++) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        if (memory->graph == graph && memory->exec_count < SC_FROZEN_EXECS_MAX)
            memory->execs[memory->exec_count++] = exec;
    }
    sc_graph_writes_set(&frozen->writes, exec, sc_graph_writes_find(&frozen->writes, graph));
}

/* May a launch by this thread, of an exec that writes `write`, write the memory? If the thread that
 * captured launches other kernels, they may load the memory's address from anywhere. */
static bool may_write(const struct sc_graph_write *write, int32_t thread,
                      const struct sc_frozen_memory *memory)
{
    if (!write || (write->named.count && thread == memory->hazard.event.thread))
        return true;
    return sc_graph_write_may_touch(write, memory->memory.shape.address,
                                    sc_shape_hull_bytes(&memory->memory.shape), memory->base);
}

/* Counts the launch for the memory that the exec reads. If another exec may have written the
 * memory, the count begins again. */
void sc_frozen_note_launch(struct sc_frozen *frozen, uintptr_t exec, int32_t thread)
{
    const struct sc_graph_write *write = sc_graph_writes_find(&frozen->writes, exec);
    for (unsigned i = frozen->count; i-- > 0;) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        if (memory->is_unused && !is_kept_after_launch(memory, has_exec(memory, exec), write))
            remove_memory(frozen, i);
        else if (memory->is_unused)
            continue;
        else if (has_exec(memory, exec))
            memory->launches++;
        else if (may_write(write, thread, memory))
            memory->launches = 0;
    }
}

/* Fills in the hazard of memory that LAUNCHES launches have read without a write in between, and
 * drops that memory. Returns false if there is none. */
bool sc_frozen_take_hazard(struct sc_frozen *frozen, struct sc_hazard *hazard)
{
    for (unsigned i = 0; i < frozen->count; i++) {
        if (frozen->memories[i].is_unused || frozen->memories[i].launches < LAUNCHES)
            continue;
        *hazard = frozen->memories[i].hazard;
        remove_memory(frozen, i);
        return true;
    }
    return false;
}
