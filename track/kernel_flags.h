/* Words by which kernels tell the host how far they are.
 *
 * A kernel may have the address of a flag: a word that it sets for the host, which polls, or that
 * it polls itself. Memory of its own of at most SC_KERNEL_FLAG_BYTES_MAX bytes is taken for flags.
 * The host may write such memory while a kernel has its address. If its bytes are other ones than
 * before the launch, the host may have heard from the kernel: what that kernel, and all before it
 * on the stream, were to read is the program's again.
 *
 * Locks: the owner's.
 */
#ifndef SC_TRACK_KERNEL_FLAGS_H
#define SC_TRACK_KERNEL_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "track/inflight.h"

enum { SC_KERNEL_FLAG_BYTES_MAX = 64 };

/* What lies there now, if the range is taken for flags. 0: it is not, or cannot be read. */
uint64_t sc_kernel_flags_digest(struct sc_inflight *inflight, uint32_t range);

/* May the host have heard that this kernel is done with what it has addresses of? False for what is
 * no kernel's. */
bool sc_kernel_flags_have_told(struct sc_inflight *inflight, uint32_t op);

static inline bool sc_kernel_flags_tell(struct sc_inflight *inflight, uint32_t op)
{
    return __builtin_expect(sc_ops_is_kernel(&sc_inflight_op(inflight, op)->info), 0) &&
           sc_kernel_flags_have_told(inflight, op);
}

/* The operation is about to be remembered, and to replace the `earlier` one that is equal (0:
 * none): what that one's kernel has told is noted. */
void sc_kernel_flags_replace(struct sc_inflight *inflight, uint32_t earlier,
                             const struct sc_op_info *info);

static inline void sc_kernel_flags_note(struct sc_inflight *inflight, uint32_t earlier,
                                        const struct sc_op_info *info)
{
    if (__builtin_expect(info->digest != 0, 0))
        sc_kernel_flags_replace(inflight, earlier, info);
}

#endif
