/* The kinds of memory that calls allocate, and a piece of memory as a call names it. Plain data. */
#ifndef SC_INTERPOSE_LEDGER_MEMORY_KINDS_H
#define SC_INTERPOSE_LEDGER_MEMORY_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum sc_memory_kind {
    /* known by an address on a device */
    SC_MEMORY_DEVICE,
    SC_MEMORY_POOLED, /* of a pool, in a stream's order */
    SC_MEMORY_BUFFER, /* a part of external memory */
    /* addresses that physical memory is mapped to; that memory is counted by itself */
    SC_MEMORY_MAPPING,
    /* memory of another process, or of an imported pool; counted once for each time that it is
     * opened */
    SC_MEMORY_IMPORTED,

    /* known by an address on a device and on the host */
    SC_MEMORY_MANAGED,
    SC_MEMORY_PINNED,
    SC_MEMORY_REGISTERED,

    /* known by a handle, or as api.def says */
    SC_MEMORY_ARRAY,    /* mipmapped ones included */
    SC_MEMORY_PHYSICAL, /* lives as long as references to it or mappings of it */
    /* one reference more to physical memory, or one less; the first one is made with the memory */
    SC_MEMORY_REFERENCE,
    SC_MEMORY_PHYSICAL_IMPORTED,
    SC_MEMORY_ADDRESSES, /* reserved addresses, without memory */
    SC_MEMORY_POOL,      /* a pool without the memory in it */
    SC_MEMORY_POOL_IMPORTED,
    SC_MEMORY_TRIMMED, /* what a pool has reserved and nobody uses */
    SC_MEMORY_GRAPHS,  /* what a device's graphs have reserved and nobody uses */
    SC_MEMORY_NODE,    /* of a node of a graph, known by its address */
    SC_MEMORY_EXTERNAL,
    SC_MEMORY_GRAPHICS,
    SC_MEMORY_EXEC, /* of a graph */
    SC_MEMORY_MULTICAST,
    SC_MEMORY_BINDING, /* memory that is bound to a multicast object; no memory itself */

    /* memory that the driver takes for itself */
    SC_MEMORY_CONTEXT,
    SC_MEMORY_MODULE, /* libraries included */
    SC_MEMORY_FUNCTION,
    SC_MEMORY_FUNCTION_SETTING,
    SC_MEMORY_LINK,
    SC_MEMORY_EVENT,
    SC_MEMORY_TEXTURE, /* surfaces included */
    SC_MEMORY_PEER,
    SC_MEMORY_LIMIT,
    SC_MEMORY_USER_OBJECT,
    SC_MEMORY_CHECKPOINT,
    SC_MEMORY_KINDS
};

struct sc_memory {
    enum sc_memory_kind kind;
    uintptr_t name;
    size_t size_bytes; /* 0: the call does not say */
    /* what it is a part of, or 0. For physical memory and pools: where it lies (SC_MEMORY_AT) */
    uintptr_t of;
    int device; /* the device of its stream, plus 1; 0: that of the current context */
};

/* In place of a device: the call was captured, so there is no memory yet. */
enum { SC_MEMORY_CAPTURED = -1 };

/* Where memory lies, from a CUmemLocation. */
#define SC_MEMORY_AT(location) ((uintptr_t)(location).type << 32 | (uint32_t)(location).id)

#endif
