/* Where managed memory is to lie: what the program's latest advice or prefetch said of each part of
 * a block, and, with the option um=1, which device had its pages last. From this the oom line says
 * how much managed memory a device has to hold.
 *
 * If a device is told to hold more than it has, the rest lies on the host, and never on another
 * device. Few programs have many such parts: beyond SC_RESIDENCE_PARTS no more blocks are noted,
 * and a part that would have to be cut counts as SC_RESIDENCE_UNKNOWN.
 *
 * Pages that were evicted from a device still count for it. That ends when a block is freed of
 * which the device had pages, since there is room again.
 *
 * A zeroed struct is empty. Thread-safe: each function takes the module's own lock briefly. Not for
 * a signal handler. */
#ifndef SC_LEDGER_RESIDENCE_H
#define SC_LEDGER_RESIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/brief_lock.h"
#include "ledger/ledger_words.h"

enum { SC_RESIDENCE_PARTS = 4096 };

/* The place of a part if that is not a device. */
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

/* What CUPTI tells of pages of managed memory. */
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

/* The managed memory that one device is to hold. */
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

/* The program has advised or prefetched these bytes: from now on they are to lie at `place` (a
 * device or SC_RESIDENCE_...). `asked_by`: the origin of that call. */
void sc_residence_note_advice(struct sc_residence *residence, uint64_t address, uint64_t size_bytes,
                              int place, uint32_t asked_by);

/* CUPTI has told of pages within one block: notes which device has them now. */
void sc_residence_note_news(struct sc_residence *residence, enum sc_residence_news news,
                            uint64_t address, uint64_t size_bytes, unsigned device);

/* Adds up the managed memory that `device` is to hold. Memory without advice counts for the device
 * that had its pages last. If no device had them, it counts for `only_device`, the one device that
 * the program gives work to; -1: there are several such devices, or it is not to be counted. */
void sc_residence_sum(struct sc_residence *residence, int device, int only_device,
                      struct sc_residence_sum *sum);

/* How many bytes the latest advice or prefetch puts on each device and on the host. */
void sc_residence_advised_bytes(struct sc_residence *residence, uint64_t bytes[SC_LEDGER_PLACES]);

/* How many bytes of managed memory are noted. One load, no lock. */
static inline uint64_t sc_residence_bytes(const struct sc_residence *residence)
{
    return atomic_load_explicit(&residence->bytes, memory_order_relaxed);
}

#endif
