#include "track/copy_manner.h"

#include "track/poison.h"

/* A batch copies so much pageable memory in the call. */
enum { STAGED_BYTES_MAX = 64 * 1024 };

/* The driver copies by the program's own mapping: no device gets at the memory. */
static bool is_staged(const struct sc_copy_case *asked, const struct sc_copy_end *end)
{
    return end->place == SC_PLACE_PAGEABLE && !asked->in_place;
}

static struct sc_copy_manner async(const struct sc_copy_case *asked)
{
    if (is_staged(asked, &asked->dst) || (asked->src.is_host && asked->dst.is_host))
        return (struct sc_copy_manner){true, SC_IN_CALL, SC_IN_CALL};
    return (struct sc_copy_manner){false, is_staged(asked, &asked->src) ? SC_IN_CALL : SC_LATE,
                                   SC_LATE};
}

/* Between two host addresses the launch waits, too (docs/driver.md, Q28), which nothing leans on.
 */
static struct sc_copy_manner node(const struct sc_copy_case *asked)
{
    if (is_staged(asked, &asked->dst))
        return (struct sc_copy_manner){true, SC_IN_CALL, SC_IN_CALL};
    return (struct sc_copy_manner){false, is_staged(asked, &asked->src) ? SC_IN_CALL : SC_LATE,
                                   SC_LATE};
}

static bool is_devices(const struct sc_copy_end *end)
{
    return end->place == SC_PLACE_DEVICE || (end->place == SC_PLACE_MANAGED && !end->is_host);
}

/* What came out of pageable memory may not have landed on the device when the call returns. */
static struct sc_copy_manner sync(const struct sc_copy_case *asked)
{
    bool waits = asked->src.place != SC_PLACE_DEVICE || asked->dst.place != SC_PLACE_DEVICE;
    bool lands_late = asked->src.place == SC_PLACE_PAGEABLE && is_devices(&asked->dst);
    if (!waits)
        return (struct sc_copy_manner){false, SC_LATE, SC_LATE};
    return (struct sc_copy_manner){true, SC_IN_CALL, lands_late ? SC_LATE : SC_IN_CALL};
}

static bool is_small(const struct sc_copy_case *asked)
{
    return asked->size_bytes <= STAGED_BYTES_MAX;
}

/* As its contract has it: a batch is no wait for its stream, and writes late. */
static struct sc_copy_manner batch(const struct sc_copy_case *asked)
{
    struct sc_copy_manner manner = {false, SC_LATE, SC_LATE};
    if (asked->call == SC_COPY_BATCH_DURING_CALL)
        manner.read = SC_IN_CALL;
    else if (asked->call == SC_COPY_BATCH_ANY && is_staged(asked, &asked->src) && is_small(asked))
        manner.read = SC_TAKEN;
    return manner;
}

struct sc_copy_manner sc_copy_manner_of(const struct sc_copy_case *asked)
{
    switch (asked->call) {
    case SC_COPY_ASYNC:
        return async(asked);
    case SC_COPY_SYNC:
        return sync(asked);
    case SC_COPY_NODE:
        return node(asked);
    default:
        return batch(asked);
    }
}

bool sc_copy_manner_breaks_promise(const struct sc_copy_case *asked)
{
    return asked->call == SC_COPY_BATCH_DURING_CALL && asked->src.place == SC_PLACE_PAGEABLE &&
           !is_small(asked);
}
