#include "interpose/base/recently.h"

#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "tools/ticks.h"
#include "words/op_kinds.h"

#include "tools/poison.h"

void sc_recently_note_freed(const char *api, void *site, uintptr_t address, size_t size_bytes,
                            uint64_t ticks)
{
    struct sc_history_entry entry = {
        .api = api,
        .site = (uintptr_t)site,
        .stack = site ? sc_unwind_here(site) : 0,
        .thread = sc_thread_id(),
        .direction = SC_FREE,
        .ticks = ticks ? ticks : sc_ticks(),
        .address = address,
        .size_bytes = size_bytes,
    };
    sc_history_note(&sc_history.frees, &entry);
}
