/* The records of the ledger (ledger.h), and what its kinds, spaces and counts mean. Plain data. */

/* Terms (docs/glossary.md):
 *   account: what one call stack has of one kind of memory at one place
 *   exec: an instantiated graph (CUgraphExec)
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   ledger: which memory the process has, and which call stack asked for it
 *   origin: the call that made a buffer or a stream, with its stack
 *   ticks: a time of the processor's counter
 */

#ifndef SC_LEDGER_LEDGER_WORDS_H
#define SC_LEDGER_LEDGER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum sc_ledger_kind {
    /* memory that belongs to the process and lies at the place; these kinds added up are what the
     * place holds */
    SC_LEDGER_DEVICE,
    SC_LEDGER_POOLED, /* the parts of a pool that are in use */
    SC_LEDGER_ARRAY,
    SC_LEDGER_PHYSICAL,
    SC_LEDGER_PINNED,
    SC_LEDGER_REGISTERED, /* the program's own memory, page-locked by the driver */
    SC_LEDGER_OWN_KINDS,

    /* memory that moves between devices and the host */
    SC_LEDGER_MANAGED = SC_LEDGER_OWN_KINDS,
    /* what is no memory, or does not belong to the process */
    SC_LEDGER_IMPORTED,
    SC_LEDGER_HELD, /* freed by the program, and held back by the library */
    SC_LEDGER_OURS, /* page-locked by the library for itself */
    SC_LEDGER_MAPPED,
    SC_LEDGER_ADDRESSES,
    SC_LEDGER_EXECS,    /* execs of graphs; counted, without bytes */
    SC_LEDGER_CONTEXTS, /* contexts; counted, without bytes */
    SC_LEDGER_KINDS
};

/* How much there is of something, and how much there was at most. Members that change together do
 * not lie side by side: the compiler would join two loads into a wide one, which would have to wait
 * for stores to single members that another call has just made. */
struct sc_ledger_count {
    uint64_t bytes;
    uint64_t peak_bytes; /* the highest value of `bytes` */
    uint64_t blocks;
    uint64_t peak_ticks; /* when that was reached (common/ticks.h) */
};

struct sc_account {
    uint64_t given_bytes, given_blocks;
    uint64_t freed_bytes, freed_blocks; /* of the given bytes and blocks, those that were freed */
    /* what it held when the place held most: at peak number `peak` */
    uint64_t peak_bytes, peak_blocks;
    uint32_t peak;
    uint32_t origin;
    uint32_t id, next;
    /* to physical memory: how many handles of it were not released; mappings do not count */
    uint64_t references;
    uint64_t outlived; /* given_blocks when the last context of the device ended */
    uint8_t kind;
    /* that context was ended by a reset, after which the program cannot free anything */
    bool was_reset;
};

/* Spaces of names: within a space, no two blocks have the same name. Device memory and host memory
 * share the space of addresses. */
enum sc_ledger_space {
    SC_LEDGER_ADDRESS,
    SC_LEDGER_MAPPING,     /* addresses that physical memory is mapped to */
    SC_LEDGER_RESERVATION, /* addresses that are reserved */
    SC_LEDGER_MEMORY,      /* handles of physical memory */
    SC_LEDGER_EXTERNAL,    /* handles of external memory */
    SC_LEDGER_HANDLE,      /* handles of other things: arrays, execs, contexts */
    /* serial numbers of holds (`age`, track/hold.h), for memory that is held back */
    SC_LEDGER_HOLD,
};

/* Where memory lies: on a device, by its number (the last number also stands for all further
 * devices), or on the host. */
enum { SC_LEDGER_DEVICES = 32, SC_LEDGER_HOST = SC_LEDGER_DEVICES, SC_LEDGER_PLACES };

enum { SC_LEDGER_POOLS = 256 };

/* A memory pool of the driver's. Blocks of it that are in use are counted in `used`, and as
 * SC_LEDGER_POOLED at their place. */
struct sc_ledger_pool {
    _Alignas(64) uint64_t handle; /* 0: the record is free */
    struct sc_ledger_count used;
    uint64_t exported_ns; /* when a handle of it was first made for other processes; 0: never */
    uint32_t origin;      /* track/origins.h; 0: the program did not make it */
    uint8_t place;
    bool is_gone, is_imported;

    /* in a statement: what the driver says of the pool */
    bool is_known;
    uint64_t reserved_bytes, reserved_peak_bytes;
    /* may be more than the ledger's: frees that their stream has not reached yet */
    uint64_t used_bytes;
    uint64_t threshold_bytes;
};

/* A block that other processes may have open, since the program has made a handle of it for them.
 */
enum { SC_LEDGER_EXPORTS = 16 };

struct sc_ledger_export {
    uint64_t name, size_bytes;
    uint64_t since_ns;
    uint32_t origin; /* the first call that made such a handle */
    uint8_t space, kind, place;
};

/* A block in the index, which finds it by its name. */
struct sc_ledger_entry {
    uint64_t name;
    uint64_t size_bytes;
    union {
        uint64_t
            /* for a mapping: the handle of the memory; for pooled memory: the index of the pool's
             * record, plus 1 */
            of;
        struct {
            uint32_t references, mappings; /* for blocks that can have more than one */
        };
    };
    uint32_t next;
    uint32_t account; /* id of its account (accounts.h) */
    uint32_t context;
    uint8_t space, kind, place;
    bool is_exported : 1;
    bool came_back : 1; /* it had left, and the driver has refused that free */
};

/* What a call that frees a block takes out of the ledger, from before the call until the driver has
 * answered: enough to enter it again if the driver refuses. */
struct sc_ledger_leaving {
    struct sc_ledger_entry was; /* name 0: nothing; with references or mappings it is there still */
    uint64_t pool;              /* the handle of its pool */
    uint32_t ends;              /* how many contexts had ended, */
    uint32_t strays;            /* and how many frees of unknown names there had been */
};

/* What a library has reported (include/safecopy.h) of a pool of its own, which hands out memory
 * that the library has allocated before. */
enum { SC_LEDGER_SUBALLOCATORS = 16, SC_LEDGER_NAME_BYTES = 64 };

struct sc_ledger_suballocator {
    char owner[SC_LEDGER_NAME_BYTES];         /* "": the record is free */
    char given_back_by[SC_LEDGER_NAME_BYTES]; /* "": not reported */
    uint64_t reserved_bytes, used_bytes;
    uint64_t told_ns;
    unsigned place;
};

/* Counts of the whole process. */
enum sc_ledger_sum {
    SC_LEDGER_FAILURES,      /* allocations that have failed for want of memory */
    SC_LEDGER_UNKNOWN_FREES, /* frees of names that are not in the ledger */
    /* blocks that are not counted, since there was no memory for their records */
    SC_LEDGER_UNRECORDED,
    SC_LEDGER_SETTLED,    /* allocations that were repeated when held memory had been freed */
    SC_LEDGER_LONGEST_NS, /* the longest time that memory was held which has gone back */
    SC_LEDGER_SUMS
};

struct sc_ledger_block {
    enum sc_ledger_space space;
    enum sc_ledger_kind kind;
    uint64_t name;
    uint64_t size_bytes;
    uint64_t of; /* the number of its pool; for a mapping, the memory that is mapped; 0: neither */
    uint32_t context; /* the context that it ends with; 0: it outlives its context */
    uint32_t origin;  /* track/origins.h */
    unsigned place;
};

#endif
