/* What an operation does with bytes of device memory. The operation is a call, a node of a graph,
 * or work beside a capture. */

/* Terms (docs/glossary.md):
 *   beside: of work: issued by the capturing thread during a capture, and run at once
 *   hull: the smallest interval around a shape
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 */

#ifndef SC_TRACK_DEVICE_USE_H
#define SC_TRACK_DEVICE_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/op_kinds.h"
#include "common/shape.h"

/* How an operation uses device memory. SC_DEVICE_READS: it only reads the bytes. SC_DEVICE_NAMES:
 * it is a kernel that has the address of the first byte among its parameters, and may use memory
 * from there on. */
enum sc_device_access { SC_DEVICE_WRITES, SC_DEVICE_READS, SC_DEVICE_NAMES };

struct sc_device_use {
    struct sc_shape shape;
    struct sc_fold fold;
    enum sc_direction direction : 8; /* the operation's */
    enum sc_device_access access : 8;
    uint8_t unsure;  /* SC_UNSURE_LEFT_OUT if a launch may leave the operation out; else 0 */
    uint32_t origin; /* the call that allocated the memory (track/origins.h); 0: not known yet */
    uint32_t fill;   /* what a memset writes, as a word of four bytes (sc_device_use_fill) */
};

/* The word that a memset writes: its value, repeated to fill four bytes. `size_bytes`: the size of
 * an element. */
static inline uint32_t sc_device_use_fill(uint32_t value, size_t size_bytes)
{
    return size_bytes == 1 ? value * 0x01010101u : size_bytes == 2 ? value * 0x00010001u : value;
}

/* The use of a kernel that has this address among its parameters: it may use one byte there. */
static inline struct sc_device_use sc_device_use_named(uintptr_t address)
{
    return (struct sc_device_use){
        .shape = {address, 1, 1, 1}, .access = SC_DEVICE_NAMES, .direction = SC_NO_DIRECTION};
}

static inline uintptr_t sc_device_use_end(const struct sc_device_use *use)
{
    return use->shape.address + sc_shape_hull_bytes(&use->shape);
}

/* Returns true if the uses have a common byte. Two comparisons answer if their hulls do not
 * overlap, as is mostly so. */
static inline bool sc_device_uses_touch(const struct sc_device_use *a,
                                        const struct sc_device_use *b)
{
    return a->shape.address < sc_device_use_end(b) && b->shape.address < sc_device_use_end(a) &&
           sc_shapes_folded_touch(&a->shape, &a->fold, &b->shape, &b->fold);
}

/* Returns true if `writer` may write a byte of `memory`. A kernel may write from its address up to
 * the end of the allocation. `base`: where the allocation of `memory` begins. */
static inline bool sc_device_use_may_write(const struct sc_device_use *writer,
                                           const struct sc_device_use *memory, uintptr_t base)
{
    if (writer->access == SC_DEVICE_NAMES)
        return writer->shape.address >= base && writer->shape.address < sc_device_use_end(memory);
    return writer->access == SC_DEVICE_WRITES && sc_device_uses_touch(writer, memory);
}

enum { SC_DEVICE_USES_MAX = 2 };

/* What a copy or memset does with device memory: at most its source and its target. */
struct sc_device_uses {
    unsigned count;
    struct sc_device_use of[SC_DEVICE_USES_MAX];
};

/* Adds what a copy or memset does with one piece of device memory, unless that has no bytes. */
static inline void sc_device_uses_add(struct sc_device_uses *uses, const struct sc_device_use *use)
{
    if (uses->count < SC_DEVICE_USES_MAX && sc_shape_hull_bytes(&use->shape) != 0)
        uses->of[uses->count++] = *use;
}

#endif
