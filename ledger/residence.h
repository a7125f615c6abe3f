/* Keeps where managed memory is meant to lie: what the program's latest advice or prefetch said of
 * each part of a block, and, with the option um=1, which device had its pages last. From this the
 * oom line says how much managed memory a device is meant to hold.
 *
 * If a device is meant to hold more than it has, the rest lies on the host, and never on another
 * device. Few programs have many such parts: beyond SC_RESIDENCE_PARTS no more blocks are noted,
 * and a part that would have to be cut counts as SC_RESIDENCE_UNKNOWN.
 *
 * Pages that were evicted from a device still count for it, until a block is freed of which the
 * device had pages: then there is room again.
 *
 * A zeroed struct is empty. Thread-safe: each function takes the module's own lock briefly. Not for
 * a signal handler. */

/* Terms (docs/glossary.md):
 *   origin: the call that made a buffer or a stream, with its stack
 */

#ifndef SC_LEDGER_RESIDENCE_H
#define SC_LEDGER_RESIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/brief_lock.h"
#include "ledger/ledger_words.h"

enum { SC_RESIDENCE_PARTS = 4096 };

/* Places of a part besides devices. */
enum {
    SC_RESIDENCE_ANYWHERE = -1, /* there was no advice and no prefetch */
    SC_RESIDENCE_HOST = -2,
    SC_RESIDENCE_UNKNOWN = -3, /* there was no room to cut the part, or to note such a device */
    SC_RESIDENCE_NOWHERE = -4, /* no device is meant to have its pages, until one is seen to */
};

struct sc_residence_part {
    uint64_t address, size_bytes;
    uint64_t block;    /* the block that it is a part of */
    uint64_t order;    /* a serial number of the latest advice, prefetch or allocation */
    uint32_t made_by;  /* the call that allocated it (track/origins.h) */
    uint32_t asked_by; /* the call that advised or prefetched it; 0: there was none */
    uint32_t context;
    int place;       /* where it was advised or prefetched to */
    uint16_t user;   /* the device that had its pages last, plus 1; 0: none was seen to */
    bool is_evicted; /* its pages were evicted from that device for want of room */
};

/* What CUPTI reports about pages of managed memory. */
enum sc_residence_news {
    SC_RESIDENCE_COME,    /* they have moved to the device */
    SC_RESIDENCE_FAULT,   /* the device has accessed them: one report stands for many faults */
    SC_RESIDENCE_EVICTED, /* they have moved from the device to the host, for want of room */
    SC_RESIDENCE_LEAVE,   /* they have moved from the device to the host, which has accessed them */
};

struct sc_residence {
    struct sc_brief_lock lock;
    uint32_t count;
    uint64_t ever;          /* how many blocks, advice and prefetches there were */
    _Atomic uint64_t bytes; /* the bytes of all parts */
    struct sc_residence_part parts[SC_RESIDENCE_PARTS]; /* sorted by address */
};

extern struct sc_residence sc_residence;

/* The managed memory that one device is meant to hold. */
struct sc_residence_sum {
    uint64_t bytes, blocks;
    uint64_t asked_bytes;   /* of these, the bytes that were advised or prefetched */
    uint64_t evicted_bytes; /* of these, the bytes that were evicted */
    uint64_t last_block;    /* the block of the part that was added last */
    struct sc_residence_part largest, latest;
};

/* Enter a block that was allocated (`block` has its address, size, context, place and call); remove
 * the block that begins at an address, before it is freed; and remove all blocks of a context that
 * has ended. */
void sc_residence_given(struct sc_residence *residence, const struct sc_residence_part *block);
void sc_residence_taken(struct sc_residence *residence, uint64_t address);
void sc_residence_end_context(struct sc_residence *residence, uint32_t context);

/* Notes that the program has advised or prefetched these bytes: from now on they are meant to lie
 * at `place` (a device or SC_RESIDENCE_...). `asked_by`: that call with its stack (an origin); 0:
 * none. */
void sc_residence_note_advice(struct sc_residence *residence, uint64_t address, uint64_t size_bytes,
                              int place, uint32_t asked_by);

/* Notes which device has pages of one block now, as CUPTI has reported. */
void sc_residence_note_news(struct sc_residence *residence, enum sc_residence_news news,
                            uint64_t address, uint64_t size_bytes, unsigned device);

/* Adds up the managed memory that `device` is meant to hold. Memory without advice counts for the
 * device that had its pages last. If no device had them, it counts for `only_device`, the one
 * device on which the program issues work; -1: there are several such devices, or it is not to be
 * counted. */
void sc_residence_sum(struct sc_residence *residence, int device, int only_device,
                      struct sc_residence_sum *sum);

/* Returns in `bytes` how many bytes the latest advice or prefetch puts on each device and on the
 * host. */
void sc_residence_advised_bytes(struct sc_residence *residence, uint64_t bytes[SC_LEDGER_PLACES]);

/* Returns how many bytes of managed memory are noted. One load, no lock. */
static inline uint64_t sc_residence_bytes(const struct sc_residence *residence)
{
    return atomic_load_explicit(&residence->bytes, memory_order_relaxed);
}

#endif
