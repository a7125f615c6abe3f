/* Records what the process did last (track/history.h), for the post-mortem line that is written
 * when the context is lost (interpose/postmortem/postmortem.h).
 *
 * Thread-safe, not signal-safe; errno is kept. sc_recently_freed takes the ledger's lock, the other
 * functions none. With postmortem=0 each function is one load. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   post-mortem: the report's line that says what was in flight when a context was lost
 *   site: the address to which a hook or wrapper returns: the program's call
 */

#ifndef SC_INTERPOSE_BASE_RECENTLY_H
#define SC_INTERPOSE_BASE_RECENTLY_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "track/history.h"

/* Records an operation (a copy or the like) that the driver has accepted, among the latest of its
 * stream, for the report of a lost context. The caller has set the stack, direction and bytes of
 * `use`; this sets the rest. `number`: its place on the stream. Nothing is recorded with
 * postmortem=0. */
SC_INLINED void sc_recently_issued(const char *api, void *site, uint32_t stream, uint64_t ticks,
                                   uint64_t number, struct sc_history_entry use)
{
    if (!sc_options.postmortem)
        return;
    use.api = api;
    use.site = (uintptr_t)site;
    use.stream = stream;
    use.thread = sc_thread_id();
    use.ticks = ticks;
    use.number = number;
    sc_history_note(&sc_history.streams[stream % SC_HISTORY_RINGS], 0, &use);
}

/* Records that the program frees memory, by a call that returns to `site`. `site` not NULL: the
 * caller's stack is taken (interpose/base/unwind.h). */
void sc_recently_note_freed(const char *api, void *site, uintptr_t address, size_t size_bytes);

/* Records that the program frees memory (sc_recently_note_freed), if the option postmortem is set
 * and the library is active. */
static inline void sc_recently_freed(const char *api, void *site, uintptr_t address,
                                     size_t size_bytes)
{
    if (sc_likely(sc_options.postmortem) && sc_active())
        sc_recently_note_freed(api, site, address, size_bytes);
}

#endif
