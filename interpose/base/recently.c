#include "interpose/base/recently.h"

#include "common/op_kinds.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "ledger/ledger.h"

#include "common/poison.h"

/* Adds the free to the ring of the latest frees, from which the report takes what was freed shortly
 * before a context was lost. A free that no call of the program caused has no `site`, and no stack.
 */
void sc_recently_note_freed(const char *api, void *site, uintptr_t address, size_t size_bytes)
{
    struct sc_history_entry entry = {
        .api = api,
        .site = (uintptr_t)site,
        .stack = site ? sc_unwind_here(site) : 0,
        .thread = sc_thread_id(),
        .direction = SC_FREE,
        .ticks = sc_ticks(),
        .address = address,
        .size_bytes = size_bytes,
    };
    sc_history_note(&sc_history.frees, sc_options.memory ? sc_ledger_number_free(&sc_ledger) : 0,
                    &entry);
}
