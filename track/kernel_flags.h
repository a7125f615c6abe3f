/* Flags: words in host memory by which a kernel tells the host how far it is. They may be touched
 * while the kernel runs, and what they say orders other touches.
 *
 * A kernel may have the address of a flag: a word that it sets for the host, which polls it, or
 * that it polls itself. A range of at most SC_KERNEL_FLAG_BYTES_MAX bytes is assumed to hold flags.
 * The host may write such memory while a kernel has its address. If its bytes differ from those
 * before the launch, the host may have heard from the kernel. What that kernel, and all work before
 * it on the stream, were to read is then the program's again.
 *
 * Locks: the owner's. */
#ifndef SC_TRACK_KERNEL_FLAGS_H
#define SC_TRACK_KERNEL_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "track/inflight.h"

enum { SC_KERNEL_FLAG_BYTES_MAX = 64 };

/* A digest of the range's present bytes, if the range is small enough to hold flags; never 0 then.
 * 0: the range is larger, or cannot be read. */
uint64_t sc_kernel_flags_digest(struct sc_inflight *inflight, uint32_t range);

/* May the host have heard by a flag that the operation, a kernel's possible use, is done? */
bool sc_kernel_flags_may_show_kernel_done(struct sc_inflight *inflight, uint32_t op);

/* May the host have heard by a flag that the operation is done? False for operations that are no
 * kernel's. */
static inline bool sc_kernel_flags_may_show_done(struct sc_inflight *inflight, uint32_t op)
{
    return __builtin_expect(sc_ops_is_kernel(&sc_inflight_op(inflight, op)->info), 0) &&
           sc_kernel_flags_may_show_kernel_done(inflight, op);
}

/* Called before an operation with a digest replaces the equal one `earlier` (0: there is none). If
 * the flag has changed since the earlier launch, that launch's kernel has told the host that it is
 * done. */
void sc_kernel_flags_compare_digests(struct sc_inflight *inflight, uint32_t earlier,
                                     const struct sc_op_info *info);

static inline void sc_kernel_flags_note_replacement(struct sc_inflight *inflight, uint32_t earlier,
                                                    const struct sc_op_info *info)
{
    if (__builtin_expect(info->digest != 0, 0))
        sc_kernel_flags_compare_digests(inflight, earlier, info);
}

#endif
