#include "interpose/entry/never_freed.h"

#include <stddef.h>

#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"
#include "ledger/statement.h"
#include "report/report.h"
#include "track/origins.h"

#include "common/poison.h"

/* Returns the kind of buffer, as hazards name it, of memory of this ledger kind: what is none of
 * the others is pinned on the host, or the device's. */
static enum sc_buffer_kind kind_of(const struct sc_statement_account *lost)
{
    switch (lost->kind) {
    case SC_LEDGER_MANAGED:
        return SC_MANAGED;
    case SC_LEDGER_REGISTERED:
        return SC_REGISTERED;
    default:
        return lost->place == SC_LEDGER_HOST ? SC_PINNED : SC_DEVICE;
    }
}

/* Makes the hazard SC601 for all blocks that one call stack has allocated and nobody has freed. */
static struct sc_hazard describe_hazard(const struct sc_statement_account *lost)
{
    const struct sc_origin origin = sc_origins_get(lost->origin);
    return (struct sc_hazard){
        .code = SC601,
        .certainty = SC_OBSERVED,
        .action = SC_ACTION_REPORTED,
        .buffer_size_bytes = lost->bytes,
        .buffer_kind = kind_of(lost),
        .blocks = lost->blocks,
        .copy = {.api = origin.api ? origin.api : "unknown",
                 .direction = SC_ALLOCATION,
                 .size_bytes = lost->bytes,
                 .device = lost->place == SC_LEDGER_HOST ? 0 : (int)lost->place,
                 .stack = origin.stack},
        .event = {.api = "exit", .thread = sc_thread_id(), .time_ns = sc_now_ns()},
    };
}

/* Reports memory that was never freed (SC601), one hazard for each call stack, when all exit
 * handlers have run. With stacks of one frame, buffers of different callers could not be told
 * apart: nothing is reported then. */
void sc_never_freed_report(void)
{
    struct sc_statement *statement = sc_unwind_is_deep() ? sc_pages_map(sizeof *statement) : NULL;
    if (!statement)
        return;
    sc_statement_draw_never_freed(&sc_ledger, statement);
    for (unsigned i = 0; i < statement->account_count; i++) {
        const struct sc_hazard hazard = describe_hazard(&statement->accounts[i]);
        if (!sc_report_suppresses(&hazard))
            sc_report_hazard(&hazard);
    }
    sc_pages_unmap(statement, sizeof *statement);
}
