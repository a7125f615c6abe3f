/* Where managed memory is to lie: what the latest advice or prefetch says of each part of a block,
 * and which device has had its pages last, where that is told of (um=1).
 *
 * Managed memory that a device is to hold, and that is more than it has, lies on the host for the
 * rest: never on another device. Parts are few, as such blocks are. Past SC_RESIDENCE_PARTS nothing
 * is said of a block more, and of no part what only a cut would say.
 *
 * What was evicted counts for its device until a block goes that the device had pages of, which
 * makes room.
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
    SC_RESIDENCE_NOWHERE = -4, /* no device has its pages, as long as none is seen to */
};

struct sc_residence_part {
    uint64_t address, size_bytes;
    uint64_t block;    /* which one */
    uint64_t order;    /* of what was said last: counts up */
    uint32_t made_by;  /* track/origins.h: the allocation, */
    uint32_t asked_by; /* and the advice or prefetch; 0: there was none */
    uint32_t context;
    int place;       /* as advised or prefetched */
    uint16_t user;   /* one more than the device that has had its pages last; 0: none was seen to */
    bool is_evicted; /* from there, for want of room */
};

/* What is told of pages. */
enum sc_residence_news {
    SC_RESIDENCE_COME,    /* to the device */
    SC_RESIDENCE_FAULT,   /* the device touches them: one of many, of which no more is told */
    SC_RESIDENCE_EVICTED, /* from the device to the host, for want of room */
    SC_RESIDENCE_LEAVE,   /* from the device to the host, which wants them */
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
    uint64_t asked_bytes;   /* of these, as advised or prefetched */
    uint64_t evicted_bytes; /* of these */
    uint64_t last_block;    /* of the part that was added last */
    struct sc_residence_part largest, latest;
};

void sc_residence_given(struct sc_residence *residence, const struct sc_residence_part *block);
void sc_residence_taken(struct sc_residence *residence, uint64_t address);
void sc_residence_end_context(struct sc_residence *residence, uint32_t context);

/* From now on the part is to lie there, or anywhere, or lies nowhere. */
void sc_residence_ask(struct sc_residence *residence, uint64_t address, uint64_t size_bytes,
                      int place, uint32_t asked_by);

/* It is told of pages in one block. */
void sc_residence_hear(struct sc_residence *residence, enum sc_residence_news news,
                       uint64_t address, uint64_t size_bytes, unsigned device);

/* What nobody has said anything of counts for the device that has had its pages last; where none
 * has, for `only_device`, the one that there is work on; -1: there are several, or it is known. */
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
