/* The ledger: every block of memory that the process has got from the driver, where it lies, and
 * which call allocated it. Wrappers of calls that allocate and free keep it; the report, the
 * post-mortem and the oom line read it (statement.h).
 *
 * A block is known by its name: an address, or a handle of the driver's, unique within its space
 * (enum sc_ledger_space). It is counted with the size that the program asked for, at its place (a
 * device, or the host), and in the account of the call that allocated it (accounts.h). What the
 * driver takes beyond that size is not counted.
 *
 * A block is entered when the driver has handed it out. It is taken out before the call that frees
 * it (sc_ledger_leaves), and entered again if the driver refuses that call (sc_ledger_refused). So
 * if another thread gets the same address meanwhile, the two blocks are not mixed up. No count goes
 * below zero.
 *
 * Thread-safe, not signal-safe. Locks: the ledger's own, a leaf that is held briefly. No function
 * fails: a block for whose record there is no memory is counted as SC_LEDGER_UNRECORDED. A million
 * blocks take some 50 MB, which come from mmap and never from malloc. */

/* Terms (docs/glossary.md):
 *   account: what one call stack has of one kind of memory at one place
 *   ledger: which memory the process has, and which call stack asked for it
 *   post-mortem: the report's line that says what was in flight when a context was lost
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_LEDGER_LEDGER_H
#define SC_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger_words.h"

/* The ledger of the process. Tests make ledgers of their own: a zeroed struct is an empty ledger.
 */
extern struct sc_ledger sc_ledger;

/* Enters a block that the driver has handed out. A block that had the same name no longer exists,
 * and is taken out. A mapping adds a reference to the memory that it maps, and imported memory that
 * is opened once more gets one more reference. */
void sc_ledger_given(struct sc_ledger *ledger, const struct sc_ledger_block *block);

/* Enters memory of a pool, which programs allocate most often: quicker than sc_ledger_given if the
 * address was a block of this pool before, since its entry is used again. `number`: the pool's
 * (sc_ledger_pool_number); 0: not known. */
void sc_ledger_given_of_pool(struct sc_ledger *ledger, uint64_t name, uint64_t size_bytes,
                             unsigned number, unsigned place, uint32_t origin);

/* Returns the place (a device or SC_LEDGER_HOST) of the block with that name; -1: no such block is
 * known. */
int sc_ledger_place_of(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name);

/* Called before the program frees the block, or drops one reference to it: takes the block out with
 * its last reference. Stores in `leaving` what sc_ledger_refused needs to undo that. Returns false
 * if no block is known by that name. Then sets the name in `leaving` to 0, unless `leaving` already
 * has the block of that name from an earlier call, as when a call is replayed. */
bool sc_ledger_leaves(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                      struct sc_ledger_leaving *leaving);

/* Begins to take a block out whose address is mostly a pool's: quicker than sc_ledger_leaves.
 * `leaving` need not be initialised. Stores in `number` what sc_ledger_number_free would return,
 * also if no block is known. */
bool sc_ledger_leaves_of_pool(struct sc_ledger *ledger, uint64_t name,
                              struct sc_ledger_leaving *leaving, uint64_t *number);

/* Undoes sc_ledger_leaves, because the driver has refused to take the block back. Does nothing if
 * another block has the name by now, another thread has freed it meanwhile, or the block's context
 * has ended. */
void sc_ledger_refused(struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving);

/* Returns the next number of a free, from 1: the frees of a process in one order, for the history
 * (track/history.h). */
uint64_t sc_ledger_number_free(struct sc_ledger *ledger);

/* The driver has freed memory of an address that was not in the ledger before the call. Two threads
 * may have freed one block: then the other has taken it out, and the driver refuses that free. The
 * block leaves now, or does not come back with the refusal. Otherwise the free counts as
 * SC_LEDGER_UNKNOWN_FREES. */
void sc_ledger_freed_unknown(struct sc_ledger *ledger, uint64_t name);

/* Raises a count of the whole process by one. Returns the new count. */
uint64_t sc_ledger_count(struct sc_ledger *ledger, enum sc_ledger_sum what);

/* Count page-locked memory that the program has freed and that the library keeps until the device
 * is done with it: sc_ledger_hold when that begins, sc_ledger_let_go when the driver has got the
 * memory, after `held_ns`. `age`: the serial number by which both name the memory (track/hold.h).
 */
void sc_ledger_hold(struct sc_ledger *ledger, uint64_t age, uint64_t size_bytes, uint32_t origin);
void sc_ledger_let_go(struct sc_ledger *ledger, uint64_t age, uint64_t held_ns);

/* Notes that the library has page-locked so many bytes at the address for itself: for copies of
 * small sources, or to serve allocations of the program. They count until they are given to the
 * program (sc_ledger_given), or until they are freed: 0 bytes. */
void sc_ledger_keep(struct sc_ledger *ledger, uint64_t address, uint64_t size_bytes);

/* Note that the program has made a handle of the block, or of the pool, by which other processes
 * can open it. At most SC_LEDGER_EXPORTS blocks are noted at a time. */
void sc_ledger_exported(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                        uint64_t now_ns, uint32_t origin);
void sc_ledger_pool_exported(struct sc_ledger *ledger, uint64_t handle, uint64_t now_ns);

/* Stores what a library has last reported (include/safecopy.h) of its own pool at a place: how much
 * memory the pool has reserved and has in use. Nothing reserved: the library has no pool there any
 * more. Reports of more than SC_LEDGER_SUBALLOCATORS pools are dropped. */
void sc_ledger_note_suballocator(struct sc_ledger *ledger,
                                 const struct sc_ledger_suballocator *told);

/* Adds a reference to physical memory (cuMemRetainAllocationHandle). Returns false if the handle is
 * not known. */
bool sc_ledger_add_reference(struct sc_ledger *ledger, uint64_t handle);

/* Takes all blocks out that end with the context, which has ended. */
void sc_ledger_end_context(struct sc_ledger *ledger, uint32_t context);

/* Notes that the device at `place` has no context any more, since the last one was destroyed or the
 * device was reset: the blocks of its accounts have outlived the contexts
 * (sc_accounts_note_outlived). */
void sc_ledger_note_outlived(struct sc_ledger *ledger, unsigned place, bool is_reset);

/* Returns the number of the pool with this handle; 0: not known. The number is the pool's until the
 * pool is destroyed and all its memory freed. *place: set to where its memory lies, if that is
 * known. */
unsigned sc_ledger_pool_number(struct sc_ledger *ledger, uint64_t handle, unsigned *place);

/* Enters a pool that was made or imported, or that a call names for the first time, with its memory
 * at *place. A known pool keeps its place, which is stored in *place. Returns the pool's number; 0:
 * there is no room. */
unsigned sc_ledger_pool_met(struct sc_ledger *ledger, uint64_t handle, unsigned *place,
                            uint32_t origin, bool is_imported);

/* Notes that the pool was destroyed. Blocks of it that are in use stay in the ledger. */
void sc_ledger_pool_gone(struct sc_ledger *ledger, uint64_t handle);

#endif
