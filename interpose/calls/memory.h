/* What calls do to memory, told in one place: rows of api.def tell it (memory_calls.c), and
 * wrappers by hand.
 *
 * Memory that was given is told of behind the call, when the driver has handed it out. Memory that
 * is taken back is told of before the call, while it is still the program's, and once more behind
 * it with what the driver answered. Here that serves device memory that is watched (device=1) and
 * captures (SC305). Kinds without an address on a device serve nobody yet: what is told of them
 * costs nothing.
 *
 * A listener of all memory hangs on to these four functions, and to nothing else. What a call does
 * not say (the size of an array or of imported memory, the device) it asks the driver for, never
 * while something captures.
 *
 * Locks: none may be held. errno is kept. Thread-safe, not signal-safe.
 */
#ifndef SC_INTERPOSE_CALLS_MEMORY_H
#define SC_INTERPOSE_CALLS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/capture/beside.h"
#include "interpose/driver/call.h"
#include "track/track_front.h"

enum sc_memory_kind {
    /* known by an address on a device */
    SC_MEMORY_DEVICE,
    SC_MEMORY_POOLED,   /* of a pool, in a stream's order */
    SC_MEMORY_BUFFER,   /* a part of external memory */
    SC_MEMORY_MAPPING,  /* addresses with memory behind them: they are none themselves */
    SC_MEMORY_IMPORTED, /* of another process, or of an imported pool; as often as it is opened */

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
    SC_MEMORY_TRIMMED, /* what the pool has and nobody uses */
    SC_MEMORY_NODE,    /* a graph's, by its address; of a trim, the device's graphs' */
    SC_MEMORY_EXTERNAL,
    SC_MEMORY_GRAPHICS,
    SC_MEMORY_MULTICAST,
    SC_MEMORY_BINDING, /* memory behind a multicast object: none itself */

    /* the driver's own */
    SC_MEMORY_CONTEXT,
    SC_MEMORY_MODULE, /* libraries included */
    SC_MEMORY_FUNCTION,
    SC_MEMORY_LINK,
    SC_MEMORY_EVENT,
    SC_MEMORY_TEXTURE, /* surfaces included */
    SC_MEMORY_PEER,
    SC_MEMORY_LIMIT,
    SC_MEMORY_USER_OBJECT,
    SC_MEMORY_EXPORT, /* a handle of memory, for others: they may keep it */
    SC_MEMORY_CHECKPOINT,
};

struct sc_memory {
    enum sc_memory_kind kind;
    uintptr_t name;
    size_t size_bytes; /* 0: the call does not say */
    uintptr_t of;      /* what it is a part of; 0: nothing */
};

void sc_memory_note_given(const struct sc_call *call, const struct sc_memory *memory);
void sc_memory_note_leaving(const struct sc_call *call, const struct sc_memory *memory);
void sc_memory_note_left(const struct sc_memory *memory);

static inline bool sc_memory_is_on_device(enum sc_memory_kind kind)
{
    return kind <= SC_MEMORY_IMPORTED;
}

/* The call has given it. */
static inline void sc_memory_given(const struct sc_call *call, const struct sc_memory *memory)
{
    bool is_watched = sc_memory_is_on_device(memory->kind) && sc_track_watches_device(&sc_track);
    if (memory->kind <= SC_MEMORY_MANAGED && (sc_unlikely(is_watched) || sc_beside_is_asked()))
        sc_memory_note_given(call, memory);
}

/* The call is about to take it back. */
static inline void sc_memory_leaves(const struct sc_call *call, const struct sc_memory *memory)
{
    if (memory->kind == SC_MEMORY_MAPPING && sc_unlikely(sc_track_watches_device(&sc_track)))
        sc_memory_note_leaving(call, memory);
}

/* The driver has taken it back, or (`taken` is false) has refused to. */
static inline void sc_memory_left(const struct sc_memory *memory, bool taken)
{
    bool has_block = memory->kind == SC_MEMORY_MAPPING || memory->kind == SC_MEMORY_IMPORTED;
    if (has_block && taken && sc_unlikely(sc_track_watches_device(&sc_track)))
        sc_memory_note_left(memory);
}

/* The driver may have taken memory for itself, or given some up. */
static inline void sc_memory_reserved(const struct sc_call *call, enum sc_memory_kind kind)
{
    (void)call, (void)kind;
}

#endif
