/* The kinds of memory that calls allocate, and one piece of memory as a call names it. Plain
 * data. */
#ifndef SC_INTERPOSE_LEDGER_MEMORY_KINDS_H
#define SC_INTERPOSE_LEDGER_MEMORY_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum sc_memory_kind {
    /* known by an address on a device */
    SC_MEMORY_DEVICE,
    SC_MEMORY_POOLED,  /* of a pool, in a stream's order */
    SC_MEMORY_BUFFER,  /* a part of external memory */
    SC_MEMORY_MAPPING, /* addresses with physical memory behind them, which is counted by itself */
    /* memory of another process, or of an imported pool; counted as often as it is opened */
    SC_MEMORY_IMPORTED,

    /* and on the host */
    SC_MEMORY_MANAGED,
    SC_MEMORY_PINNED,
    SC_MEMORY_REGISTERED,

    /* known by a handle, or as the row says */
    SC_MEMORY_ARRAY,     /* mipmapped ones included */
    SC_MEMORY_PHYSICAL,  /* lives for as long as references or mappings */
    SC_MEMORY_REFERENCE, /* one more of physical memory, or one less; the first comes with it */
    SC_MEMORY_PHYSICAL_IMPORTED,
    SC_MEMORY_ADDRESSES, /* reserved: no memory */
    SC_MEMORY_POOL,      /* with nothing in it */
    SC_MEMORY_POOL_IMPORTED,
    SC_MEMORY_TRIMMED, /* what the pool has and nobody uses, */
    SC_MEMORY_GRAPHS,  /* and the device's graphs */
    SC_MEMORY_NODE,    /* a graph's, by its address */
    SC_MEMORY_EXTERNAL,
    SC_MEMORY_GRAPHICS,
    SC_MEMORY_EXEC, /* of a graph */
    SC_MEMORY_MULTICAST,
    SC_MEMORY_BINDING, /* memory behind a multicast object: none itself */

    /* the driver's own */
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
    uintptr_t of;      /* what it is a part of; 0: nothing. Of physical memory and of pools where it
                        * lies (SC_MEMORY_AT) */
    int device;        /* of its stream, counted from 1; 0: that of the current context */
};

/* Stands in place of a device: the call was captured, and there is no memory yet. */
enum { SC_MEMORY_CAPTURED = -1 };

/* As a CUmemLocation says it. */
#define SC_MEMORY_AT(location) ((uintptr_t)(location).type << 32 | (uint32_t)(location).id)

#endif
