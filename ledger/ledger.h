/* The ledger: every block of memory that the process has from the driver, where the block lies, and
 * which call asked for it. Wrappers of calls that allocate and free keep it; the report, the
 * post-mortem and the oom line read it (statement.h).
 *
 * A block is known by its name within a space: an address, or a handle of the driver's. The block
 * counts with the size that the program asked for, at its place (a device, or the host), and in the
 * account of the call that made it (accounts.h). What the driver takes beyond that size does not
 * count.
 *
 * A block enters the ledger when the driver has handed it out. It leaves the ledger before the call
 * that gives it back (sc_ledger_leaves), and is put back if the driver refuses that call
 * (sc_ledger_refused). So another thread may be handed the same address meanwhile, and its block is
 * another one. No count goes below zero.
 *
 * Thread-safe, not signal-safe. Locks: the ledger's own, a leaf that is held briefly. No function
 * fails: a block for which there is no memory is counted as SC_LEDGER_UNRECORDED. A million blocks
 * take some 50 MB, which come from mmap and never from malloc. */
#ifndef SC_LEDGER_LEDGER_H
#define SC_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_words.h"

/* The ledger of the process. Tests make others: a zeroed struct is an empty ledger. */
extern struct sc_ledger sc_ledger;

/* Enters a block that the driver has handed out. A block that had the same name is gone, and leaves
 * the ledger. A mapping refers to the memory behind it, and imported memory that is opened once
 * more gets one more reference. */
void sc_ledger_given(struct sc_ledger *ledger, const struct sc_ledger_block *block);

/* The same for memory of a pool, which programs ask for most. `number`: the pool's
 * (sc_ledger_pool_number), 0 if it is not known. */
void sc_ledger_given_of_pool(struct sc_ledger *ledger, uint64_t name, uint64_t size_bytes,
                             unsigned number, unsigned place, uint32_t origin);

/* The place (a device or SC_LEDGER_HOST) of the block with that name; -1: no block is known by
 * it. */
int sc_ledger_place_of(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name);

/* The program is about to give the block back, or one reference to it: the block leaves the ledger
 * with the last reference. Stores what left in `leaving`, for sc_ledger_refused. False: no block is
 * known by that name. Then the name in `leaving` is set to 0, unless the block of that name has
 * left into it before, as in a call that is replayed. */
bool sc_ledger_leaves(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                      struct sc_ledger_leaving *leaving);

/* The same for an address that is mostly a pool's. `leaving` need not be initialised; it gets a
 * number, also if no block is known. */
bool sc_ledger_leaves_of_pool(struct sc_ledger *ledger, uint64_t name,
                              struct sc_ledger_leaving *leaving);

/* The driver has refused to take back what has left into `leaving`: enters it again, unless another
 * block has the name by now, another thread has freed it meanwhile, or the block's context has
 * ended. */
void sc_ledger_refused(struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving);

/* Returns the next number of a free, from 1: the frees of a process in one order, for the history
 * (track/history.h). */
uint64_t sc_ledger_number_free(struct sc_ledger *ledger);

/* The driver has taken back the memory of an address that was not in the ledger before the call. If
 * it had left for the same free of another thread, which the driver has refused or will refuse, its
 * block leaves now or does not come back; else the free counts as SC_LEDGER_UNKNOWN_FREES. */
void sc_ledger_freed_unknown(struct sc_ledger *ledger, uint64_t name);

/* Raises a count of the whole process by one. Returns the new count. */
uint64_t sc_ledger_count(struct sc_ledger *ledger, enum sc_ledger_sum what);

/* Count page-locked memory that the program has freed and that the library holds back, until
 * sc_ledger_let_go: the driver has got it after `held_ns`. `age`: the hold's number
 * (track/hold.h). */
void sc_ledger_hold(struct sc_ledger *ledger, uint64_t age, uint64_t size_bytes, uint32_t origin);
void sc_ledger_let_go(struct sc_ledger *ledger, uint64_t age, uint64_t held_ns);

/* The library has page-locked so many bytes there for itself, until the program is given them
 * (sc_ledger_given); 0: has them no more. */
void sc_ledger_keep(struct sc_ledger *ledger, uint64_t address, uint64_t size_bytes);

/* Note that the program made a handle of the block, or of the pool, by which other processes can
 * open it. At most SC_LEDGER_EXPORTS blocks are noted at a time. */
void sc_ledger_exported(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                        uint64_t now_ns, uint32_t origin);
void sc_ledger_pool_exported(struct sc_ledger *ledger, uint64_t handle, uint64_t now_ns);

/* Keeps what a library has said last (include/safecopy.h) of its own pool at a place: how much
 * memory it has reserved and has in use. Nothing reserved: the library has no pool there any more.
 * Reports beyond SC_LEDGER_SUBALLOCATORS are dropped. */
void sc_ledger_note_suballocator(struct sc_ledger *ledger,
                                 const struct sc_ledger_suballocator *told);

/* Adds a reference to physical memory (cuMemRetainAllocationHandle). False: the handle is not
 * known. */
bool sc_ledger_add_reference(struct sc_ledger *ledger, uint64_t handle);

/* The context has ended: all blocks that end with it leave the ledger. */
void sc_ledger_end_context(struct sc_ledger *ledger, uint32_t context);

/* The device at `place` has no context any more: the last one was destroyed, or the device was
 * reset. Notes for all accounts there that their blocks have outlived the contexts
 * (sc_accounts_note_outlived). */
void sc_ledger_note_outlived(struct sc_ledger *ledger, unsigned place, bool is_reset);

/* The number of the pool with this handle, which stays the pool's until it is destroyed and all its
 * memory is freed. 0: the pool is not known. *place: set to where its memory lies, if that is
 * known. */
unsigned sc_ledger_pool_number(struct sc_ledger *ledger, uint64_t handle, unsigned *place);

/* Enters a pool that was made or imported, or that a call names for the first time, with its memory
 * at *place. A known pool keeps its place, and *place is set to it. Returns the pool's number; 0:
 * there is no room. */
unsigned sc_ledger_pool_met(struct sc_ledger *ledger, uint64_t handle, unsigned *place,
                            uint32_t origin, bool is_imported);

/* The pool was destroyed. Its blocks that are in use stay in the ledger. */
void sc_ledger_pool_gone(struct sc_ledger *ledger, uint64_t handle);

#endif
