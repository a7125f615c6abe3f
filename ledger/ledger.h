/* The ledger of memory: every block that the process holds, where it lies, and who asked for it.
 *
 * A block is known by a name in a space: an address, or a handle. It is counted with its kind at
 * its place (a device, or the host), and with the account of the call stack that made it
 * (accounts.h). What is asked for is counted, in bytes, and never what else the driver takes for
 * it.
 *
 * Memory is noted when the driver has given it, and is out of the ledger from before it is taken
 * back (sc_ledger_leaves). Who takes it keeps it, and puts it back where the driver refuses
 * (sc_ledger_refused). So a block that another thread is handed meanwhile under the same name is
 * another one. No count goes below zero.
 *
 * Thread-safe, not signal-safe. The ledger's own lock is a brief leaf. Nothing fails: what there is
 * no memory for is counted in `unrecorded`. A million blocks take some 50 MB, mapped and never of
 * malloc.
 */
#ifndef SC_LEDGER_LEDGER_H
#define SC_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_words.h"

/* All zero is an empty ledger. The process's own. Tests make others. */
extern struct sc_ledger sc_ledger;

/* The driver has given it. What had the name before is gone. A mapping, and memory that is opened
 * once more, counts one more reference. */
void sc_ledger_given(struct sc_ledger *ledger, const struct sc_ledger_block *block);

/* The same of memory of a pool, by its number or 0, which all programs ask for most. */
void sc_ledger_given_of_pool(struct sc_ledger *ledger, uint64_t name, uint64_t size_bytes,
                             unsigned number, unsigned place, uint32_t origin);

/* Where the block of that name lies; -1: it is not known. */
int sc_ledger_place_of(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name);

/* The block is about to be taken back, or one reference to it: the last one takes it along. False:
 * nothing is known by that name. `leaving` stays as it is then where the block of that name has
 * left into it already, as for a call that is replayed; zeros if it was never used. */
bool sc_ledger_leaves(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                      struct sc_ledger_leaving *leaving);

/* The same of an address that is mostly a pool's. What `leaving` was does not matter. */
bool sc_ledger_leaves_of_pool(struct sc_ledger *ledger, uint64_t name,
                              struct sc_ledger_leaving *leaving);

/* The driver has refused to take it: it is there as before, unless its name is another block's by
 * now, or its context has ended. */
void sc_ledger_refused(struct sc_ledger *ledger, const struct sc_ledger_leaving *leaving);

/* One more of these. Returns how many there are. */
uint64_t sc_ledger_count(struct sc_ledger *ledger, enum sc_ledger_sum what);

/* Page-locked memory that the program has given back is held, and goes back after `held_ns`. */
void sc_ledger_hold(struct sc_ledger *ledger, uint64_t age, uint64_t size_bytes, uint32_t origin);
void sc_ledger_let_go(struct sc_ledger *ledger, uint64_t age, uint64_t held_ns);

/* The library has page-locked so many bytes there for itself, until the program is given them
 * (sc_ledger_given); 0: has them no more. */
void sc_ledger_keep(struct sc_ledger *ledger, uint64_t address, uint64_t size_bytes);

/* A handle of the block, or of the pool, was made for others. Sixteen such blocks are known at a
 * time. */
void sc_ledger_exported(struct sc_ledger *ledger, enum sc_ledger_space space, uint64_t name,
                        uint64_t now_ns, uint32_t origin);
void sc_ledger_pool_exported(struct sc_ledger *ledger, uint64_t handle, uint64_t now_ns);

/* What is said last of the owner's pool at the place. Nothing reserved: it has none any more. What
 * there is no room for is dropped. */
void sc_ledger_tell(struct sc_ledger *ledger, const struct sc_ledger_suballocator *told);

/* One reference more to physical memory. False: it is not known. */
bool sc_ledger_refer(struct sc_ledger *ledger, uint64_t handle);

/* The context is gone, and what goes with it. */
void sc_ledger_end_context(struct sc_ledger *ledger, uint32_t context);

/* The device has no context any more: it was reset, or the last one was destroyed. What does not go
 * with a context stays. */
void sc_ledger_outlive(struct sc_ledger *ledger, unsigned place, bool is_reset);

/* The pool's number, by which it is known for as long as there is memory of it or it is not gone;
 * 0: it is not known. The place of its memory is written where it was known. */
unsigned sc_ledger_pool_number(struct sc_ledger *ledger, uint64_t handle, unsigned *place);

/* A pool was made, or imported, or is met for the first time, at that place. Returns its number. */
unsigned sc_ledger_pool_met(struct sc_ledger *ledger, uint64_t handle, unsigned *place,
                            uint32_t origin, bool is_imported);

/* The pool was destroyed: what is in use of it stays. */
void sc_ledger_pool_gone(struct sc_ledger *ledger, uint64_t handle);

#endif
