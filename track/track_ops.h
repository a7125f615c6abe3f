/* The tracker's operations on host memory: which conflict, and which were issued.
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   flag: a word in host memory by which a kernel tells the host how far it has come
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   seal: to compare a source for the last time, because the device is about to write it
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_OPS_H
#define SC_TRACK_TRACK_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/checks.h"
#include "track/ops.h"

struct sc_kernel_byte;
struct sc_op_info;
struct sc_order_call;
struct sc_slot;
struct sc_slot_source;
struct sc_staging;
struct sc_staging_block;
struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* Stores the operations in flight that conflict with `info`: an operation that is about to be
 * issued on info->ticket.stream, or a read or write that a call does itself, as the direction says.
 * The ticket's other members are ignored. `awaited`: stores only operations that the host has to
 * wait for, which are not complete and of which the device reads no snapshot. */
void sc_track_conflicts(struct sc_track *track, const struct sc_op_info *info, bool awaited,
                        struct sc_ops *conflicts) SC_EXCLUDES(*track);

struct sc_issued {
    /* Earlier operations that conflict with what was issued, although none did before the call:
     * another thread has issued them meanwhile. */
    struct sc_ops conflicts;
    /* equal earlier operations whose source has changed since their issue */
    struct sc_ops overwritten;
};

static inline void sc_issued_end(struct sc_issued *issued)
{
    sc_ops_end(&issued->conflicts);
    sc_ops_end(&issued->overwritten);
}

/* Declares a struct sc_issued whose lists are freed at the end of the scope. */
#define SC_ISSUED(name) __attribute__((cleanup(sc_issued_end))) struct sc_issued name = {{0}, {0}}

/* Records the operations of a call that the driver has accepted: ends the call as sc_track_end_call
 * does (unless it has ended already), and gives each operation its ticket (stream and number). */
void sc_track_issue(struct sc_track *track, struct sc_order_call *call, struct sc_op_info *infos,
                    unsigned count, struct sc_issued *issued) SC_EXCLUDES(*track);

/* Records the operations of one call that the driver has accepted, with one ticket (stream and
 * number) for all, as for a launch that uses several pieces of memory. infos[0].ticket is that
 * ticket already, or has number 0 and the place of the call. */
void sc_track_issue_one(struct sc_track *track, struct sc_op_info *infos, unsigned count)
    SC_EXCLUDES(*track);

/* Takes a slot for a snapshot of the source. If the operation is not issued then, the caller
 * releases the slot (sc_staging_put_back). Returns
 *
 * - 0, and stores a slot;
 * - -ENOSPC if no slot is free, and stores the size of the block that would give more (no bytes:
 *   there are enough blocks);
 * - -EBUSY while an operation that was not seen complete writes the range or, for a source in no
 *   range, the bytes of the source. */
int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging,
                       const struct sc_slot_source *source, struct sc_slot **slot,
                       struct sc_staging_block *missing) SC_EXCLUDES(*track);

/* ---- kernels that have addresses of host memory ---- */

/* Host memory that a launch may use: the byte at each address of a kernel's parameters, each once,
 * with the digest of the flags there before the launch (track/kernel_flags.h). */
enum { SC_KERNEL_HOST_MAX = 8 };
struct sc_kernel_host {
    unsigned count;
    struct sc_kernel_byte {
        uintptr_t address;
        uint64_t digest;
    } bytes[SC_KERNEL_HOST_MAX];
};

/* Adds to `host` those of a kernel's addresses that lie in pinned or registered memory, as long as
 * there is room. */
void sc_track_find_kernel_host(struct sc_track *track, const uintptr_t *addresses, unsigned count,
                               struct sc_kernel_host *host) SC_EXCLUDES(*track);

/* Seals the sources in memory that the launch may write, since it has addresses of it: compares
 * them with their copies for the last time, and adds those that differ to `overwritten`. Called
 * before the launch. */
void sc_track_seal_for_kernel(struct sc_track *track, const struct sc_kernel_host *host,
                              const struct sc_op_info *later, struct sc_ops *overwritten)
    SC_EXCLUDES(*track);

#endif
