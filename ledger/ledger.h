/* The ledger of memory: every block that the process holds, where it lies, and who asked for it.
 *
 * A block is known by a name in a space: an address, or a handle. It is counted with its kind at
 * its place (a device, or the host), and with the account of the call stack that made it
 * (accounts.h). What is asked for is counted, in bytes, and never what else the driver takes for
 * it.
 *
 * Memory is noted when the driver has given it. Before it is taken back it is counted no more
 * (sc_ledger_leaves), and it is forgotten, or counted again, when the driver has answered
 * (sc_ledger_left). So a block that another thread is handed meanwhile under the same name is
 * another one. No count goes below zero.
 *
 * Thread-safe, not signal-safe. The locks are brief leaves of the ledger's own, and a call holds
 * one at a time. Nothing fails: what there is no memory for is counted in `unrecorded`. A million
 * blocks take some 50 MB, mapped and never of malloc.
 */
#ifndef SC_LEDGER_LEDGER_H
#define SC_LEDGER_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/accounts.h"
#include "ledger/ledger_index.h"
#include "track/brief_lock.h"

/* Places: devices by their number, the last of which has all later ones as well, and the host. */
enum { SC_LEDGER_DEVICES = 32, SC_LEDGER_HOST = SC_LEDGER_DEVICES, SC_LEDGER_PLACES };

enum { SC_LEDGER_POOLS = 256 };

/* A pool of the driver's. What is in use of it is counted here, and as SC_LEDGER_POOLED. It is
 * found by its handle without a lock. */
struct sc_ledger_pool {
    _Atomic uint64_t handle; /* 0: a place for another one */
    _Atomic bool is_gone;
    bool is_imported;
    uint8_t place;
    uint32_t origin;             /* track/origins.h; 0: the program did not make it */
    struct sc_ledger_count used; /* under the lock of its place */
};

struct sc_ledger {
    struct sc_ledger_index index;
    struct sc_accounts places[SC_LEDGER_PLACES];
    struct sc_brief_lock pools_lock; /* for who adds one */
    struct sc_ledger_pool pools[SC_LEDGER_POOLS];
    _Atomic unsigned pools_ever; /* behind these no place has been used yet */
    _Atomic uint64_t
        unknown_frees;           /* of names that are not in the ledger: the caller counts them */
    _Atomic uint64_t unrecorded; /* blocks that there was no memory for: they are not counted */
};

struct sc_ledger_block {
    enum sc_ledger_space space;
    enum sc_ledger_kind kind;
    uint64_t name;
    uint64_t size_bytes;
    uint64_t of;      /* the pool of pooled memory; the memory behind a mapping. 0: none */
    uint32_t context; /* with which it goes; 0: it outlives its context */
    uint32_t origin;  /* track/origins.h */
    unsigned place;
};

/* All zero is an empty ledger. The process's own. Tests make others. */
extern struct sc_ledger sc_ledger;

/* The driver has given it. What had the name before is gone. Of a mapping, and of memory that is
 * opened once more, one more reference is counted. */
void sc_ledger_given(struct sc_ledger *ledger, const struct sc_ledger_block *block);

/* What is known by that name. False: nothing. */
bool sc_ledger_find(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                    struct sc_ledger_block *block);

/* The block is about to be taken back, or one reference to it: the last one takes it along. False:
 * there is none, or it is being taken back already. */
bool sc_ledger_leaves(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name);

/* The driver has answered a call before which sc_ledger_leaves was true. */
void sc_ledger_left(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                    bool taken);

/* One reference more to physical memory. False: it is not known. */
bool sc_ledger_refer(struct sc_ledger *ledger, uint64_t handle);

/* The context is gone, and what goes with it. */
void sc_ledger_end_context(struct sc_ledger *ledger, uint32_t context);

/* A pool was made, or imported, or is met for the first time. */
void sc_ledger_pool_met(struct sc_ledger *ledger, uint64_t handle, unsigned place, uint32_t origin,
                        bool is_imported);

/* The place of the pool's memory. False: the pool is not known. */
bool sc_ledger_pool_place(struct sc_ledger *ledger, uint64_t handle, unsigned *place);

/* The pool was destroyed: what is in use of it stays. */
void sc_ledger_pool_gone(struct sc_ledger *ledger, uint64_t handle);

#endif
