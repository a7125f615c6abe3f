/* Where managed memory is to lie: what the latest advice or prefetch says of each part of a block.
 *
 * Managed memory that a device is to hold, and that is more than it has, lies on the host for the
 * rest: never on another device. Parts are few, as such blocks are. Past SC_RESIDENCE_PARTS nothing
 * is said of a block more, and of no part what only a cut would say.
 *
 * All zero is nothing. Thread-safe: each function takes a brief lock. Not in a signal handler.
 */
#ifndef SC_LEDGER_RESIDENCE_H
#define SC_LEDGER_RESIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/brief_lock.h"
#include "ledger/ledger_words.h"

enum { SC_RESIDENCE_PARTS = 4096 };

/* Places besides devices. */
enum {
    SC_RESIDENCE_ANYWHERE = -1, /* nobody has said anything */
    SC_RESIDENCE_HOST = -2,
    SC_RESIDENCE_UNKNOWN = -3, /* there was no room to cut the part, or for such a device */
};

struct sc_residence_part {
    uint64_t address, size_bytes;
    uint64_t block;    /* which one */
    uint64_t order;    /* of what was said last: counts up */
    uint32_t made_by;  /* track/origins.h: the allocation, */
    uint32_t asked_by; /* and the advice or prefetch; 0: there was none */
    uint32_t context;
    uint32_t faulted_by; /* devices that were seen to fault there (um=1), a bit each */
    int place;           /* as advised or prefetched */
};

struct sc_residence {
    struct sc_brief_lock lock;
    uint32_t count;
    uint64_t ever;                                      /* blocks, advice and prefetches */
    _Atomic uint64_t bytes;                             /* of all parts */
    struct sc_residence_part parts[SC_RESIDENCE_PARTS]; /* by address */
};

extern struct sc_residence sc_residence;

/* What a device is to hold. */
struct sc_residence_sum {
    uint64_t bytes, blocks;
    uint64_t asked_bytes; /* of these, as advised or prefetched */
    uint64_t last_block;  /* of the part that was added last */
    struct sc_residence_part largest, latest;
};

void sc_residence_given(struct sc_residence *residence, const struct sc_residence_part *block);
void sc_residence_taken(struct sc_residence *residence, uint64_t address);
void sc_residence_end_context(struct sc_residence *residence, uint32_t context);

/* From now on the part is to lie there, or anywhere. */
void sc_residence_ask(struct sc_residence *residence, uint64_t address, uint64_t size_bytes,
                      int place, uint32_t asked_by);

/* A device was seen to fault there. */
void sc_residence_fault(struct sc_residence *residence, uint64_t address, unsigned device);

/* What nobody has said anything of counts for the devices that were seen to fault there; where none
 * was, for `only_device`, the one that there is work on; -1: there are several, or it is known. */
void sc_residence_sum(struct sc_residence *residence, int device, int only_device,
                      struct sc_residence_sum *sum);

/* Bytes by the latest advice or prefetch: of each device, and of the host. */
void sc_residence_asked(struct sc_residence *residence, uint64_t bytes[SC_LEDGER_PLACES]);

/* Two loads. */
static inline uint64_t sc_residence_bytes(const struct sc_residence *residence)
{
    return atomic_load_explicit(&residence->bytes, memory_order_relaxed);
}

#endif
