/* Memory on loan to the kernel: what a call of the program has the kernel read or write, until the
 * call is back.
 *
 * A load or store that meets a guarded page is handled by the guard. The kernel gives up there,
 * with a short count, an EFAULT, or a datagram that it has taken from its queue already. So pages
 * on loan are not guarded. Who lends makes the loan known, and then looks at what is guarded. The
 * guard records what it is about to protect, and then looks at the loans. So one of the two sees
 * the other.
 *
 * A call that is left by siglongjmp, or whose thread is cancelled, gives nothing back. Its thread
 * finds that out when it next lends or guards something. If the thread is gone, whoever meets the
 * loan finds out. A loan beyond the table's end is not known, and its pages may be guarded.
 *
 * Thread safe and signal safe; no lock, no allocation; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_LOANS_H
#define SC_INTERPOSE_GUARD_LOANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/frames.h"
#include "common/pages.h"

enum { SC_LOANS_PER_CALL = 6 };

/* What one call has lent. It lies in the caller's frame, and has the note of that frame. */
struct sc_loans {
    struct sc_frame frame;
    unsigned count;
    uint16_t ids[SC_LOANS_PER_CALL];
};

/* Makes it known that the kernel will touch the interval. Pieces beyond SC_LOANS_PER_CALL are lent
 * together with all that lies between them. */
void sc_loans_add(struct sc_loans *loans, const void *address, size_t size_bytes,
                  enum sc_touch touch);

/* The call is back: gives back all that it has lent. */
void sc_loans_end(struct sc_loans *loans);

/* The barrier between a store that the guard is to see and the look at what is guarded. */
void sc_loans_order(void);

struct sc_lent {
    uintptr_t address;
    size_t size_bytes;
    enum sc_touch touch;
};

/* Is one of the change's pages on loan for a touch that the change would forbid? Or is one kept off
 * (interpose/system_calls/keep_off.h)? Stores the part of the first such interval that lies on
 * them. */
bool sc_loans_find(const struct sc_access_change *change, struct sc_lent *lent);

#endif
