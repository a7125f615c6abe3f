#include "track/frozen.h"

#include <string.h>

#include "common/poison.h"

/* by so many launches, with no write in between, memory is frozen: the graph reads it as work
 * beside its capture left it */
enum { LAUNCHES = 2 };

/* How many of the kept pieces of memory (written by work beside a capture, which no launch repeats)
 * does no captured work use? Those have room of their own. */
static unsigned count_unused(const struct sc_frozen *frozen)
{
    unsigned count = 0;
    for (unsigned i = 0; i < frozen->count; i++)
        count += frozen->memories[i].is_unused;
    return count;
}

/* Adds a piece of memory that work beside a capture has written. Returns false if there is no room.
 * Pieces that no captured work uses are often harmless, so they must not take the room of the
 * others. */
bool sc_frozen_add(struct sc_frozen *frozen, const struct sc_frozen_memory *memory)
{
    unsigned unused = count_unused(frozen);
    if (memory->is_unused ? unused == SC_FROZEN_UNUSED_MAX
                          : frozen->count - unused == SC_FROZEN_MAX - SC_FROZEN_UNUSED_MAX)
        return false;
    frozen->memories[frozen->count++] = *memory;
    return true;
}

/* Drops a piece (of memory): it is settled. The last one takes its place, so callers walk from the
 * end. */
static void remove_memory(struct sc_frozen *frozen, unsigned i)
{
    frozen->memories[i] = frozen->memories[--frozen->count];
}

/* ---- memory that no captured work uses ---- */

/* Returns the bytes by which it is decided whether a launch should have written the memory: what a
 * memset of the program has set, once one has; else all of it. */
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

/* Is the use a memset of all bytes of the memory, to another value than before? Only then a later
 * read tells whether a launch has written there. What copies and kernels have written is not known.
 */
static bool sets_other_value(const struct sc_device_use *use, const struct sc_device_use *memory)
{
    bool is_same = memory->direction == SC_MEMSET && memory->fill == use->fill;
    return use->access == SC_DEVICE_WRITES && use->direction == SC_MEMSET && !is_same &&
           covers_bytes(use, memory);
}

/* The program uses device memory: is this piece, which work beside a capture wrote and no captured
 * work uses, still of interest? Only while the program sets all of it anew, launches the graph, and
 * copies it to the host, in this order. Every other use ends that, and a kernel may use any memory.
 */
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

/* Is memory that no captured work uses still of interest after a launch? It is reported if launches
 * should have written it. So only if the launched exec is one of the memory's own graph (`is_own`)
 * and is known not to write it. Another exec may read what was set. */
static bool is_kept_after_launch(struct sc_frozen_memory *memory, bool is_own,
                                 const struct sc_graph_write *write)
{
    const struct sc_shape *bytes = &watched_bytes(memory)->shape;
    memory->launches += memory->is_set;
    return is_own && write &&
           !sc_graph_write_may_touch(write, bytes->address, sc_shape_hull_bytes(bytes),
                                     memory->base);
}

/* Does this copy to the host show that a launch should have written the memory: does it read
 * nothing but what a memset had set before the launch? */
static bool reveals(const struct sc_frozen_memory *memory, const struct sc_device_use *read)
{
    return memory->is_unused && memory->launches && sc_device_uses_touch(read, &memory->memory) &&
           covers_bytes(&memory->set, read);
}

/* The program copies device memory to the host. If that shows that a launch should have written
 * there, fills in the hazard, with the bytes that were read, and drops the piece (of memory). */
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

/* The program uses device memory: drops the pieces (written by work beside a capture) that this may
 * have written anew, since launches then read something new. Pieces that no captured work uses have
 * a rule of their own. */
void sc_frozen_note_use(struct sc_frozen *frozen, const struct sc_device_use *use)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        struct sc_frozen_memory *memory = &frozen->memories[i];
        if (memory->is_unused ? !update_after_use(memory, use)
                              : sc_device_use_may_write(use, &memory->memory, memory->base))
            remove_memory(frozen, i);
    }
}

/* Anything may have been written: drops all pieces of memory that work beside a capture wrote.
 * Returns how many are read by launches, to be counted as not judged. */
unsigned sc_frozen_forget(struct sc_frozen *frozen)
{
    unsigned forgotten = frozen->count - count_unused(frozen);
    frozen->count = 0;
    return forgotten;
}

/* Is the exec one of those whose launches read this memory, which work beside their graph's capture
 * wrote? */
static bool has_exec(const struct sc_frozen_memory *memory, uintptr_t exec)
{
    for (unsigned i = 0; i < memory->exec_count; i++)
        if (memory->execs[i] == exec)
            return true;
    return false;
}

/* The exec was destroyed, or belongs to another graph now: its launches do not read the memory. */
static void remove_exec(struct sc_frozen_memory *memory, uintptr_t exec)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < memory->exec_count; i++)
        if (memory->execs[i] != exec)
            memory->execs[kept++] = memory->execs[i];
    memory->exec_count = kept;
}

/* A graph or exec was destroyed. Memory that no other one reads is dropped. The handle may be a
 * graph's or an exec's. */
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

/* Some graph was changed, and nobody knows which: execs that are made from now on may read
 * anything. Those that were made before still read the pieces (of memory). */
void sc_frozen_note_changed(struct sc_frozen *frozen)
{
    for (unsigned i = frozen->count; i-- > 0;) {
        frozen->memories[i].graph = 0;
        if (!frozen->memories[i].exec_count)
            remove_memory(frozen, i);
    }
    sc_graph_writes_forget_all(&frozen->writes); /* it is not known which graph was changed */
}

/* An exec was made from the graph, or updated by it: its launches read and write what the graph's
 * capture has shown. The room for execs is limited; further ones are not known. */
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

/* May a launch by this thread, of an exec that writes `write`, write the memory anew that is kept?
 * What is not known may write anything. If the thread that captured launches other kernels, they
 * may load the memory's address from anywhere. */
static bool may_write(const struct sc_graph_write *write, int32_t thread,
                      const struct sc_frozen_memory *memory)
{
    if (!write || (write->named.count && thread == memory->hazard.event.thread))
        return true;
    return sc_graph_write_may_touch(write, memory->memory.shape.address,
                                    sc_shape_hull_bytes(&memory->memory.shape), memory->base);
}

/* A launch: counts it for the memory that the exec reads. If the exec may have written memory that
 * another graph reads, the count for that begins again. */
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

/* After a launch: fills in the hazard of memory that work beside the graph's capture wrote, and
 * that two launches have read with no write in between. It is reported once, so the piece is
 * dropped. Memory that no captured work uses is reported by a copy to the host instead. */
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
