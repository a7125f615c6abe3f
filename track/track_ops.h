/* The tracker's operations on host memory: what conflicts, and what was issued.
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */
#ifndef SC_TRACK_TRACK_OPS_H
#define SC_TRACK_TRACK_OPS_H

#include <stdbool.h>
#include <stddef.h>
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

/* Unordered operations in flight that conflict with what is about to be issued on
 * info->ticket.stream, or that a call does itself: it reads or writes the bytes, as the direction
 * says. No other field of the ticket counts here. `awaited`: only operations for which the host has
 * to wait, which are not complete and have no snapshot. */
void sc_track_conflicts(struct sc_track *track, const struct sc_op_info *info, bool awaited,
                        struct sc_ops *conflicts) SC_EXCLUDES(*track);

struct sc_issued {
    struct sc_ops conflicts;   /* that are still there: a second thread was faster */
    struct sc_ops overwritten; /* an equal operation, whose source was changed since */
};

static inline void sc_issued_end(struct sc_issued *issued)
{
    sc_ops_end(&issued->conflicts);
    sc_ops_end(&issued->overwritten);
}

/* A struct sc_issued that ends with the scope in which it is declared. */
#define SC_ISSUED(name) __attribute__((cleanup(sc_issued_end))) struct sc_issued name = {{0}, {0}}

/* The driver has accepted the call, and with it these operations: ends the call as sc_track_end
 * does (nothing where the call has ended already), gives each operation its ticket and remembers
 * it. */
void sc_track_issue(struct sc_track *track, struct sc_order_call *call, struct sc_op_info *infos,
                    unsigned count, struct sc_issued *issued) SC_EXCLUDES(*track);

/* The driver has accepted one call, which is one operation to its stream: a launch that uses so
 * many bytes of the host's, or so many uses of device memory. All get one number. The first one's
 * ticket names that, or a number of 0 and the place of the call. */
void sc_track_issue_one(struct sc_track *track, struct sc_op_info *infos, unsigned count)
    SC_EXCLUDES(*track);

/* Takes a slot for a snapshot of the source. The caller gives back a slot that is not issued
 * (sc_staging_return). Returns
 * - 0 and a slot;
 * - -ENOSPC where no slot is left, and the block that would give more (of no bytes: there are
 * enough blocks);
 * - -EBUSY while an operation that writes the range, or in no range what is read, has not been seen
 * complete. */
int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging,
                       const struct sc_slot_source *source, struct sc_slot **slot,
                       struct sc_staging_block *missing) SC_EXCLUDES(*track);

/* ---- kernels that have addresses of host memory ---- */

/* What a launch may use there: so many bytes, each once, with what lies in flags before the launch
 * (track/kernel_flags.h). */
enum { SC_KERNEL_HOST_MAX = 8 };
struct sc_kernel_host {
    unsigned count;
    struct sc_kernel_byte {
        uintptr_t address;
        uint64_t digest;
    } bytes[SC_KERNEL_HOST_MAX];
};

/* Adds those of the addresses that lie in pinned or registered memory, as long as there is room. */
void sc_track_find_kernel_host(struct sc_track *track, const uintptr_t *addresses, unsigned count,
                               struct sc_kernel_host *host) SC_EXCLUDES(*track);

/* Before the launch, which may write the memory that it has addresses of
 * (sc_inflight_seal_for_kernel). */
void sc_track_seal_for_kernel(struct sc_track *track, const struct sc_kernel_host *host,
                              const struct sc_op_info *later, struct sc_ops *overwritten)
    SC_EXCLUDES(*track);

#endif
