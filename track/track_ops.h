/* The tracker's operations on host memory: what conflicts, and what was issued.
 *
 * Every function takes the tracker's lock for itself, unless its comment says "lock-free"
 * (track/track.h).
 */
#ifndef SC_TRACK_TRACK_OPS_H
#define SC_TRACK_TRACK_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/hazard.h"
#include "track/ops.h"

struct sc_kernel_byte;
struct sc_take_down;
struct sc_track;

/* Unordered operations in flight that conflict with what is about to be issued on
 * info->ticket.stream. No other field of the ticket counts here. */
void sc_track_conflicts(struct sc_track *track, const struct sc_op_info *info,
                        struct sc_ops *conflicts);

/* The same for a call that reads or writes the bytes itself, as the direction of `touch` says.
 * `awaited`: only operations for which the host has to wait, which are not complete and have no
 * snapshot. */
void sc_track_met(struct sc_track *track, const struct sc_op_info *touch, bool awaited,
                  struct sc_ops *met);

struct sc_take_down;

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
                    unsigned count, struct sc_issued *issued);

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
                               struct sc_kernel_host *host);

/* The driver has accepted the launch: remembers its operations, which get one ticket. */
void sc_track_issue_kernel(struct sc_track *track, struct sc_op_info *infos, unsigned count);

/* Before the launch, which may write the memory that it has addresses of
 * (sc_inflight_seal_for_kernel). */
void sc_track_seal_for_kernel(struct sc_track *track, const struct sc_kernel_host *host,
                              const struct sc_op_info *later, struct sc_ops *overwritten);

/* Are sources in managed memory in flight? Lock-free. */
bool sc_track_reads_managed(struct sc_track *track);

/* Before work that may write managed memory (sc_inflight_seal_managed); NULL: whatever it comes
 * after. */
void sc_track_seal_managed(struct sc_track *track, const struct sc_op_info *later,
                           struct sc_ops *overwritten);

#endif
