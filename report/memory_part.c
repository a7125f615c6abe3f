#include "report/memory_part.h"

#include "common/now.h"
#include "common/sort.h"
#include "common/text.h"
#include "common/ticks.h"
#include "report/annotations.h"
#include "report/json.h"
#include "report/memory_owner.h"
#include "report/plain.h"
#include "track/origins.h"

#include <string.h>

#include "common/poison.h"

enum { POOLS_MAX = 16 };

static const char *const kind_names[SC_LEDGER_KINDS] = {
    [SC_LEDGER_DEVICE] = "device",     [SC_LEDGER_POOLED] = "pooled",
    [SC_LEDGER_ARRAY] = "array",       [SC_LEDGER_PHYSICAL] = "physical",
    [SC_LEDGER_PINNED] = "pinned",     [SC_LEDGER_REGISTERED] = "registered",
    [SC_LEDGER_MANAGED] = "managed",   [SC_LEDGER_IMPORTED] = "imported",
    [SC_LEDGER_MAPPED] = "mapped",     [SC_LEDGER_ADDRESSES] = "addresses",
    [SC_LEDGER_EXECS] = "graph_execs", [SC_LEDGER_HELD] = "held",
    [SC_LEDGER_OURS] = "libsafecopy",
};

/* ---- owners ---- */

/* Returns the entry of the library `name` for the memory at the place (a device or the host), made
 * if there is none. If the list is full, its last entry stands for all further owners. */
static struct sc_memory_part_owner *find_owner(struct sc_memory_part *part, const char *name,
                                               unsigned place)
{
    unsigned i = 0;
    while (i < part->owner_count &&
           (part->owners[i].place != place || strcmp(part->owners[i].name, name) != 0))
        i++;
    if (i == SC_MEMORY_PART_OWNERS)
        return &part->owners[i - 1];
    if (i == part->owner_count) {
        part->owners[part->owner_count++].place = place;
        memcpy(part->owners[i].name, name, SC_MEMORY_PART_NAME_BYTES);
    }
    return &part->owners[i];
}

/* Adds to its owner what one call stack has at a place. The owner is the library that made the
 * call. Shares that are empty and were so at the peak tell nothing. */
static void add_share(struct sc_memory_part *part, const struct sc_statement_share *share)
{
    char name[SC_MEMORY_PART_NAME_BYTES] = "";
    if (!share->blocks && !share->peak_bytes)
        return;
    sc_memory_owner_find(sc_origins_get(share->origin).stack, name, sizeof name);
    struct sc_memory_part_owner *owner = find_owner(part, name, share->place);
    owner->bytes += share->bytes;
    owner->blocks += share->blocks;
    owner->peak_bytes += share->peak_bytes;
}

/* Returns what owners are sorted by: what one has now, or had at the peak, whichever is more. */
static uint64_t most_of(const struct sc_memory_part_owner *owner)
{
    return owner->bytes > owner->peak_bytes ? owner->bytes : owner->peak_bytes;
}

/* Finds the names that the line needs: of all stacks' frames and of the owners. Called before the
 * report's lock is taken, since naming takes the loader's lock. Memory of our own has no stack of
 * the program's to tell its owner. */
void sc_memory_part_name(const struct sc_statement *statement, struct sc_memory_part *part)
{
    memset(part, 0, sizeof *part);
    part->statement = statement;
    part->time_ns = sc_now_ns();
    for (unsigned i = 0; i < statement->account_count; i++) {
        const struct sc_statement_account *account = &statement->accounts[i];
        sc_json_lines_name_stack(sc_origins_get(account->origin).stack, &part->stacks[i]);
        if (account->kind == SC_LEDGER_OURS)
            memcpy(part->owners_of[i], "libsafecopy", sizeof "libsafecopy");
        else
            sc_memory_owner_name(&part->stacks[i], part->owners_of[i], SC_MEMORY_PART_NAME_BYTES);
    }
    for (unsigned i = 0; i < SC_STATEMENT_SHARES + SC_LEDGER_PLACES; i++)
        add_share(part, &statement->shares[i]);
    SC_SORT(part->owners, part->owner_count, most_of);
    for (unsigned i = 0; i < statement->mention_count; i++)
        sc_json_lines_name_stack(sc_origins_get(statement->mentions[i].origin).stack,
                                 &part->mention_stacks[i]);
}

/* ---- the line ---- */

/* Returns the number of the place's device; -1, which JSON shows as null: it is the host. */
static int device_of(unsigned place)
{
    return place == SC_LEDGER_HOST ? -1 : (int)place;
}

/* Writes how much there is now, and how much there was at most and when (left out if never). */
static void put_count(struct sc_text *line, const struct sc_ledger_count *count)
{
    sc_json_put(line, "bytes:%lu blocks:%lu peak_bytes:%lu peak_ns?:%lu", count->bytes,
                count->blocks, count->peak_bytes,
                count->peak_ticks ? sc_ticks_to_ns(count->peak_ticks) : 0);
}

/* Appends what a place has of each kind of memory (device, pinned, ...); kinds that it never had
 * are left out. Contexts have a list of their own, since how much one takes is not known. */
static void put_kinds(struct sc_text *line, const struct sc_statement *statement,
                      const struct sc_statement_place *place)
{
    sc_json_put(line, "kinds:{");
    for (unsigned kind = 0; kind < SC_LEDGER_KINDS; kind++) {
        const struct sc_ledger_count *count = &place->kinds[kind];
        if (kind == SC_LEDGER_CONTEXTS || (!count->blocks && !count->peak_bytes))
            continue;
        sc_json_put(line, "%s:{", kind_names[kind]);
        put_count(line, count);
        if (kind == SC_LEDGER_DEVICE)
            sc_json_put(line, "backed_bytes:%lu", place->backed_bytes);
        if (kind == SC_LEDGER_HELD)
            sc_json_put(line, "longest_ns:%lu settled:%lu", statement->sums[SC_LEDGER_LONGEST_NS],
                        statement->sums[SC_LEDGER_SETTLED]);
        sc_json_put(line, "}");
    }
    sc_json_put(line, "}");
}

/* Appends one memory pool. What it has reserved is known only if the driver was asked. A release
 * threshold beyond what readers of JSON take means "never release", and is written as null. */
static void put_pool(struct sc_text *line, const struct sc_ledger_pool *pool)
{
    sc_json_put(line, "{pool:%#lx made_by:%s imported?:%hhd destroyed?:%hhd exported_ns?:%lu",
                pool->handle, sc_origins_get(pool->origin).api, pool->is_imported, pool->is_gone,
                pool->exported_ns);
    put_count(line, &pool->used);
    if (pool->is_known) {
        uint64_t unused_bytes = sc_statement_less(pool->reserved_bytes, pool->used_bytes);
        sc_json_put(line,
                    "reserved_bytes:%lu reserved_peak_bytes:%lu unused_bytes:%lu "
                    "threshold_bytes~:%ld given_back_by?:%s",
                    pool->reserved_bytes, pool->reserved_peak_bytes, unused_bytes,
                    (int64_t)pool->threshold_bytes, unused_bytes ? "cuMemPoolTrimTo" : NULL);
    }
    sc_json_put(line, "}");
}

/* Writes what the driver has reserved for allocations in graphs, and the call that gives it back;
 * nothing if there is none, or the driver did not say. */
static void put_graphs(struct sc_text *line, const struct sc_statement_place *place)
{
    if (!place->knows_graphs || !place->graphs_reserved_bytes)
        return;
    sc_json_put(line,
                "graphs:{used_bytes:%lu reserved_bytes:%lu given_back_by:'cuDeviceGraphMemTrim'}",
                place->graphs_used_bytes, place->graphs_reserved_bytes);
}

/* Appends the device's UUID; null if the driver does not say. */
static void put_uuid(struct sc_text *line, const struct sc_statement_place *place)
{
    SC_TEXT(text, 48);
    if (place->has_uuid)
        sc_statement_put_uuid(&text, "GPU", place->uuid);
    sc_json_put(line, "uuid~:%s", text.bytes);
}

/* Writes one call that the ledger mentions, with its stack: one that made a context, exported
 * memory, or after which the driver had taken memory for itself (a step). All mentions together
 * take at most half of the line. */
static void put_mention(struct sc_text *line, const struct sc_memory_part *part, unsigned i)
{
    const struct sc_statement_mention *mention = &part->statement->mentions[i];
    size_t left = line->size - line->used, most = line->size / 2 / SC_STATEMENT_MENTIONS;
    if (mention->what == SC_STATEMENT_CONTEXT)
        sc_json_put(line, "{count:%lu", mention->count);
    else if (mention->what == SC_STATEMENT_EXPORT)
        sc_json_put(line, "{kind:%s bytes:%lu since_ns:%lu", kind_names[mention->kind],
                    mention->bytes, mention->count);
    else
        sc_json_put(line, "{bytes:%lu times:%lu", mention->bytes, mention->count);
    sc_json_put(line, "api:%s", sc_origins_get(mention->origin).api);
    sc_json_lines_put_stack(line, &part->mention_stacks[i], left > most ? left - most : left);
    sc_json_put(line, "}");
}

/* Lists the place's calls of one kind: contexts, exports or steps. */
static void put_mentions(struct sc_text *line, const struct sc_memory_part *part, unsigned place,
                         enum sc_statement_mention_kind what)
{
    static const char *const begins[] = {"contexts:[", "exports:[", "steps:["};
    sc_json_put(line, begins[what]);
    for (unsigned i = 0; i < part->statement->mention_count; i++)
        if (part->statement->mentions[i].place == place &&
            part->statement->mentions[i].what == what)
            put_mention(line, part, i);
    sc_json_put(line, "]");
}

/* Writes how much the device has in use that no call asked for: the driver took it for itself.
 * Null: the library was asked to find out and could not. Nothing if it was not asked. */
static void put_unaccounted(struct sc_text *line, const struct sc_memory_part *part, unsigned place)
{
    const struct sc_statement_unaccounted *row = &part->statement->places[place].unaccounted;
    if (row->is_asked && !row->is_known)
        sc_json_put(line, "unaccounted:null");
    if (!row->is_known)
        return;
    sc_json_put(line, "unaccounted:{bytes:%lu peak_bytes:%lu driver_bytes:%lu", row->bytes,
                row->peak_bytes, row->driver_bytes);
    put_mentions(line, part, place, SC_STATEMENT_STEP);
    sc_json_put(line, "}");
}

/* Appends what the allocators of frameworks have reserved at the place, and how much of that is in
 * use. PyTorch, for one, serves its tensors from large blocks, of which the driver's calls tell
 * nothing. */
static void put_suballocators(struct sc_text *line, const struct sc_statement *statement,
                              unsigned place)
{
    sc_json_put(line, "suballocators:[");
    for (unsigned i = 0; i < SC_LEDGER_SUBALLOCATORS; i++) {
        const struct sc_ledger_suballocator *one = &statement->suballocators[i];
        if (one->place == place && one->reserved_bytes)
            sc_json_put(line,
                        "{owner:%s reserved_bytes:%lu used_bytes:%lu given_back_by~:%s "
                        "told_ns:%lu}",
                        one->owner, one->reserved_bytes, one->used_bytes, one->given_back_by,
                        one->told_ns);
    }
    sc_json_put(line, "]");
}

/* Appends what lies at one place, a device or the host: in all, by kind, by memory pool, in
 * frameworks' allocators, and what was exported to other processes. */
static void put_content(struct sc_text *line, const struct sc_memory_part *part,
                        unsigned place_number)
{
    const struct sc_statement *statement = part->statement;
    const struct sc_statement_place *place = &statement->places[place_number];
    put_count(line, &place->all);
    put_kinds(line, statement, place);
    sc_json_put(line, "pools:[");
    for (unsigned i = 0; i < statement->pool_count && i < POOLS_MAX; i++)
        if (statement->pools[i].place == place_number)
            put_pool(line, &statement->pools[i]);
    sc_json_put(line, "]");
    put_suballocators(line, statement, place_number);
    put_mentions(line, part, place_number, SC_STATEMENT_EXPORT);
}

/* Appends each device that was used, with what lies there and how much is free. */
static void put_devices(struct sc_text *line, const struct sc_memory_part *part)
{
    const struct sc_statement *statement = part->statement;
    sc_json_put(line, "devices:[");
    for (unsigned i = 0; i < SC_LEDGER_DEVICES; i++) {
        const struct sc_statement_place *place = &statement->places[i];
        if (!place->is_used)
            continue;
        sc_json_put(line, "{device~:%d", device_of(i));
        put_uuid(line, place);
        put_mentions(line, part, i, SC_STATEMENT_CONTEXT);
        put_content(line, part, i);
        put_graphs(line, place);
        put_unaccounted(line, part, i);
        if (place->knows_free)
            sc_json_put(line, "free_bytes:%lu total_bytes:%lu", place->free_bytes,
                        place->total_bytes);
        sc_json_put(line, "}");
    }
    sc_json_put(line, "]");
}

/* Lists the libraries with most memory, at most `max`. */
static void put_owners(struct sc_text *line, const struct sc_memory_part *part, unsigned max)
{
    for (unsigned i = 0; i < part->owner_count && i < max; i++) {
        const struct sc_memory_part_owner *owner = &part->owners[i];
        sc_json_put(line, "{owner:%s device~:%d bytes:%lu blocks:%lu peak_bytes:%lu}", owner->name,
                    device_of(owner->place), owner->bytes, owner->blocks, owner->peak_bytes);
    }
}

/* Appends one account: what one call stack has of one kind of memory at one place. The stack
 * leaves `reserve` bytes of the line. */
static void put_account(struct sc_text *line, const struct sc_memory_part *part, unsigned i,
                        size_t reserve)
{
    const struct sc_statement_account *account = &part->statement->accounts[i];
    const struct sc_origin origin = sc_origins_get(account->origin);
    sc_json_put(line,
                "{kind:%s device~:%d owner:%s api:%s label?:%s bytes:%lu blocks:%lu peak_bytes:%lu "
                "peak_blocks:%lu ever_bytes:%lu ever_blocks:%lu",
                kind_names[account->kind], device_of(account->place), part->owners_of[i],
                origin.api, sc_annotations_label_text(origin.label), account->bytes,
                account->blocks, account->peak_bytes, account->peak_blocks, account->ever_bytes,
                account->ever_blocks);
    if (account->kind == SC_LEDGER_PHYSICAL)
        sc_json_put(line, "references:%lu", account->references);
    sc_json_lines_put_stack(line, &part->stacks[i], reserve);
    sc_json_put(line, "}");
}

/* Lists the accounts (by call stack) with most memory, at most `max` and while there is room.
 * Returns how many were written; the others are only counted. */
static unsigned put_accounts(struct sc_text *line, const struct sc_memory_part *part, unsigned max,
                             size_t reserve)
{
    unsigned count = part->statement->account_count, i = 0;
    count = count < max ? count : max;
    sc_json_put(line, "accounts:[");
    for (; i < count; i++) {
        size_t before = line->used;
        put_account(line, part, i, sc_json_lines_share(line, count - i, reserve));
        if (!sc_json_lines_keep(line, before, reserve))
            break;
    }
    sc_json_put(line, "]");
    return i;
}

/* Lists the places to which the program has moved managed memory, by advice or prefetch, and how
 * much. */
static void put_managed(struct sc_text *line, const struct sc_statement *statement)
{
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++) {
        if (statement->places[i].to_lie_bytes)
            sc_json_put(line, "{device~:%d bytes:%lu}", device_of(i),
                        statement->places[i].to_lie_bytes);
    }
}

/* Lists child processes that have a device open: they use its memory, of which this process's
 * ledger knows nothing. */
static void put_children(struct sc_text *line, const struct sc_statement *statement)
{
    if (!statement->child_count)
        return;
    sc_json_put(line, "children:[");
    for (unsigned i = 0; i < statement->child_count; i++)
        sc_json_put(line, "{pid:%d name:%s}", statement->children[i].pid,
                    statement->children[i].name);
    sc_json_put(line, "]");
}

/* Appends the member `memory`: at most `max` owners and accounts, and stacks as long as `reserve`
 * bytes of the line stay free. accounts_left_out: those that are not shown. */
void sc_memory_part_put(struct sc_text *line, const struct sc_memory_part *part, unsigned max,
                        size_t reserve)
{
    const struct sc_statement *statement = part->statement;
    uint64_t accounts = 0;
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++)
        accounts += statement->places[i].accounts;
    sc_json_put(line, "memory:{time_ns:%lu", part->time_ns);
    put_devices(line, part);
    sc_json_put(line, "host:{");
    put_content(line, part, SC_LEDGER_HOST);
    sc_json_put(line, "} managed_to:[");
    put_managed(line, statement);
    sc_json_put(line, "] owners:[");
    put_owners(line, part, max);
    sc_json_put(line, "]");
    put_children(line, statement);
    uint64_t shown = put_accounts(line, part, max, reserve);
    sc_json_put(line, "accounts_left_out:%lu failures:%lu unknown_frees:%lu unrecorded:%lu}",
                accounts - shown, statement->sums[SC_LEDGER_FAILURES],
                statement->sums[SC_LEDGER_UNKNOWN_FREES], statement->sums[SC_LEDGER_UNRECORDED]);
}

/* ---- for people ---- */

/* Appends the owners that have most at the place, four at most, in words for people: ": PyTorch 1
 * GB, NCCL 200 MB". */
void sc_memory_part_say_owners(struct sc_text *text, const struct sc_memory_part *part,
                               unsigned place)
{
    enum { SAID_MAX = 4 };
    unsigned said = 0;
    for (unsigned i = 0; i < part->owner_count && said < SAID_MAX; i++) {
        const struct sc_memory_part_owner *owner = &part->owners[i];
        if (owner->place != place || !owner->bytes)
            continue;
        sc_text_put(text, said++ ? ", " : ": ");
        sc_plain_put(text, owner->name, strlen(owner->name));
        sc_text_format(text, " %'lu", owner->bytes);
    }
}

/* Says which child processes live and have a device open: their memory is in no line of this
 * process. */
static void say_children(struct sc_text *text, const struct sc_statement *statement)
{
    for (unsigned i = 0; i < statement->child_count; i++) {
        const struct sc_statement_child *child = &statement->children[i];
        sc_text_format(text, "  memory: child %d (", child->pid);
        sc_plain_put(text, child->name, strlen(child->name));
        sc_text_put(text, ") lives, and has a device open\n");
    }
}

/* Writes for people a line for each place that ever had memory: how much now, how much at most,
 * and whose. */
void sc_memory_part_say(struct sc_text *text, const struct sc_memory_part *part)
{
    say_children(text, part->statement);
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++) {
        const struct sc_statement_place *place = &part->statement->places[i];
        if (!place->all.peak_bytes)
            continue;
        if (i == SC_LEDGER_HOST)
            sc_text_put(text, "  memory: page-locked on the host");
        else
            sc_text_format(text, "  memory: device %u", i);
        sc_text_format(text, ": %'lu, %'lu at most", place->all.bytes, place->all.peak_bytes);
        sc_memory_part_say_owners(text, part, i);
        sc_text_char(text, '\n');
    }
}
