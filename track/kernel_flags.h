/* Flags: words in host memory by which a kernel tells the host how far it has come. The host may
 * access them while the kernel runs, and what they say orders other accesses.
 *
 * The address of a flag may be among a kernel's parameters: the kernel sets the flag, which the
 * host polls, or polls it itself. A range of at most SC_KERNEL_FLAG_BYTES_MAX bytes is assumed to
 * hold flags. The host may write such memory while a kernel has its address. If the bytes differ
 * from those before the launch, the kernel may have told the host something. What that kernel, and
 * all work before it on the stream, were to read may then be used by the program again.
 *
 * Locks: the tracker's. */

/* Terms (docs/glossary.md):
 *   flag: a word in host memory by which a kernel tells the host how far it has come
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   possible use: a use that a launch may leave out: a kernel's address, a body that may not run
 *   range: host memory that the driver knows: one allocation or one registration
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_KERNEL_FLAGS_H
#define SC_TRACK_KERNEL_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "track/inflight.h"

enum { SC_KERNEL_FLAG_BYTES_MAX = 64 };

/* Returns a digest of the range's present bytes, never 0, if the range is small enough to hold
 * flags. Returns 0 if it is larger or cannot be read. */
uint64_t sc_kernel_flags_digest(struct sc_inflight *inflight, uint32_t range);

/* Returns true if the host may have learnt by a flag that the operation, which is a kernel's
 * possible use, is done. */
bool sc_kernel_flags_may_show_kernel_done(struct sc_inflight *inflight, uint32_t op);

/* Returns true if the host may have learnt by a flag that the operation is done; false for an
 * operation that is no kernel's. */
static inline bool sc_kernel_flags_may_show_done(struct sc_inflight *inflight, uint32_t op)
{
    return __builtin_expect(sc_ops_is_kernel(&sc_inflight_op(inflight, op)->info), 0) &&
           sc_kernel_flags_may_show_kernel_done(inflight, op);
}

/* Notes what the flag's bytes show, before the operation `info`, which has a digest, replaces the
 * equal one `earlier` (0: there is none). If the bytes have changed since the earlier launch, that
 * launch's kernel counts as having told the host that it is done. */
void sc_kernel_flags_compare_digests(struct sc_inflight *inflight, uint32_t earlier,
                                     const struct sc_op_info *info);

static inline void sc_kernel_flags_note_replacement(struct sc_inflight *inflight, uint32_t earlier,
                                                    const struct sc_op_info *info)
{
    if (__builtin_expect(info->digest != 0, 0))
        sc_kernel_flags_compare_digests(inflight, earlier, info);
}

#endif
