/* Judges and records what GPU kernels may do with memory whose addresses are among their
 * parameters, with the option kernels=report or kernels=order. A use of device memory is compared
 * with copies, memsets and frees of other streams (SC501, SC502). A use of pinned or registered
 * memory is an operation in flight, as the source of a copy is (SC1xx, SC201, SC204, SC403).
 *
 * If a parameter may be an address, the kernel is assumed to read the byte at that address, and to
 * write nothing. So it conflicts with unordered work that writes, allocates or frees that byte, and
 * never with another kernel or with work that only reads. Memory that may hold flags
 * (track/kernel_flags.h) is recorded, but no hazard of a kernel with it is reported.
 *
 * A kernel may also write, from the address up to the end of the memory. That counts only for
 * sources of earlier copies: they are compared before the kernel is launched, and not later, when
 * the kernel may have changed them in order (SC201).
 *
 * Locks: none may be held. errno is kept. The functions that judge and note ask the driver about
 * the kernel's parameters: not for a signal handler. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   flag: a word in host memory by which a kernel tells the host how far it has come
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   in flight: issued, and the host does not know yet that it is done
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   not judged: of a touch or operation: it got no verdict; counted by reason
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   source: the memory that a copy reads
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   ticks: a time of the processor's counter
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_CALLS_KERNEL_USES_H
#define SC_INTERPOSE_CALLS_KERNEL_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "report/options.h"

struct sc_call;
struct sc_kernel_host;
struct sc_launch;
struct sc_op_info;
struct sc_point;
struct sc_stream_record;

/* Has the library to look at what kernels may do with memory (option kernels)? */
static inline bool sc_kernel_uses_are_watched(void)
{
    return sc_unlikely(sc_options.kernels != SC_KERNELS_OFF);
}

/* A launch of kernels: of one, or of those of a graph. */
struct sc_kernel_launch {
    const struct sc_launch *launch; /* NULL: a graph's launch */
    uint32_t exec;                  /* the tracker's id of the graph */
    const struct sc_point *after;   /* what it comes after besides its stream's work, or NULL */
    /* false: the launch is not judged; only the sources in host memory that its kernels may write
     * are compared */
    bool is_judged;
    /* a graph's; false: a kernel may come after more work than the launch as a whole is seen to */
    bool in_order;
};

/* Judges kernels before their launch on a stream that does not capture. Stores in `host` the host
 * memory that they may use, for sc_kernel_uses_note. */
void sc_kernel_uses_judge(const struct sc_call *call, struct sc_stream_record *stream,
                          const struct sc_kernel_launch *of, struct sc_kernel_host *host);

/* Records what the kernels may use, whose launch the driver has accepted. `place`: the call's place
 * among those on a legacy stream, or 0. `moment`: that of the launch's uses if some are recorded
 * already (sc_device_uses_call_info), with their ticket; else its ticks are 0, and are set if the
 * kernels have a use. NULL: the launch has no others. */
void sc_kernel_uses_note(const struct sc_call *call, struct sc_stream_record *stream,
                         const struct sc_kernel_launch *of, const struct sc_kernel_host *host,
                         uint64_t place, struct sc_op_info *moment);

#endif
