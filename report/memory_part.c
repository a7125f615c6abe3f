#include "report/memory_part.h"

#include "report/annotations.h"
#include "report/json.h"
#include "report/memory_owner.h"
#include "report/plain.h"
#include "track/now.h"
#include "track/origins.h"
#include "track/text.h"
#include "track/ticks.h"

#include <string.h>

#include "track/poison.h"

enum { POOLS_MAX = 16 };

static const char *const kind_names[SC_LEDGER_KINDS] = {
    [SC_LEDGER_DEVICE] = "device",     [SC_LEDGER_POOLED] = "pooled",
    [SC_LEDGER_ARRAY] = "array",       [SC_LEDGER_PHYSICAL] = "physical",
    [SC_LEDGER_PINNED] = "pinned",     [SC_LEDGER_REGISTERED] = "registered",
    [SC_LEDGER_MANAGED] = "managed",   [SC_LEDGER_IMPORTED] = "imported",
    [SC_LEDGER_MAPPED] = "mapped",     [SC_LEDGER_ADDRESSES] = "addresses",
    [SC_LEDGER_EXECS] = "graph_execs", [SC_LEDGER_HELD] = "held",
};

/* ---- owners ---- */

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

static uint64_t most_of(const struct sc_memory_part_owner *owner)
{
    return owner->bytes > owner->peak_bytes ? owner->bytes : owner->peak_bytes;
}

static void sort_owners(struct sc_memory_part *part)
{
    for (unsigned i = 1; i < part->owner_count; i++) {
        struct sc_memory_part_owner owner = part->owners[i];
        unsigned at = i;
        for (; at > 0 && most_of(&owner) > most_of(&part->owners[at - 1]); at--)
            part->owners[at] = part->owners[at - 1];
        part->owners[at] = owner;
    }
}

void sc_memory_part_name(const struct sc_statement *statement, struct sc_memory_part *part)
{
    memset(part, 0, sizeof *part);
    part->statement = statement;
    part->time_ns = sc_now_ns();
    for (unsigned i = 0; i < statement->account_count; i++) {
        const struct sc_statement_account *account = &statement->accounts[i];
        sc_json_lines_name_stack(sc_origins_get(account->account.origin).stack, &part->stacks[i]);
        sc_memory_owner_name(&part->stacks[i], part->owners_of[i], SC_MEMORY_PART_NAME_BYTES);
    }
    for (unsigned i = 0; i < SC_STATEMENT_SHARES + SC_LEDGER_PLACES; i++)
        add_share(part, &statement->shares[i]);
    sort_owners(part);
    for (unsigned i = 0; i < statement->context_count; i++)
        sc_json_lines_name_stack(sc_origins_get(statement->contexts[i].origin).stack,
                                 &part->context_stacks[i]);
    for (unsigned i = 0; i < statement->export_count; i++)
        sc_json_lines_name_stack(sc_origins_get(statement->exports[i].origin).stack,
                                 &part->export_stacks[i]);
    for (unsigned i = 0; i < statement->step_count; i++)
        sc_json_lines_name_stack(sc_origins_get(statement->steps[i].origin).stack,
                                 &part->step_stacks[i]);
}

/* ---- the line ---- */

static void put_place(struct sc_text *line, unsigned place)
{
    if (place == SC_LEDGER_HOST)
        sc_json_null(line, "device");
    else
        sc_json_number(line, "device", place);
}

static void put_count(struct sc_text *line, const struct sc_ledger_count *count)
{
    sc_json_number(line, "bytes", count->bytes);
    sc_json_number(line, "blocks", count->blocks);
    sc_json_number(line, "peak_bytes", count->peak_bytes);
    if (count->peak_ticks)
        sc_json_number(line, "peak_ns", sc_ticks_to_ns(count->peak_ticks));
}

static void put_kinds(struct sc_text *line, const struct sc_statement *statement,
                      const struct sc_statement_place *place)
{
    sc_json_open(line, "kinds", '{');
    for (unsigned kind = 0; kind < SC_LEDGER_KINDS; kind++) {
        const struct sc_ledger_count *count = &place->kinds[kind];
        if (kind == SC_LEDGER_CONTEXTS || (!count->blocks && !count->peak_bytes))
            continue;
        sc_json_open(line, kind_names[kind], '{');
        put_count(line, count);
        if (kind == SC_LEDGER_DEVICE)
            sc_json_number(line, "backed_bytes", place->backed_bytes);
        if (kind == SC_LEDGER_HELD) {
            sc_json_number(line, "longest_ns", statement->longest_ns);
            sc_json_number(line, "settled", statement->settled);
        }
        sc_json_close(line, '}');
    }
    sc_json_close(line, '}');
}

static uint64_t unused_bytes(const struct sc_statement_pool *pool)
{
    return pool->reserved_bytes > pool->used_bytes ? pool->reserved_bytes - pool->used_bytes : 0;
}

/* Readers of JSON take no number beyond this: all that there is. */
static void put_threshold(struct sc_text *line, uint64_t bytes)
{
    if (bytes > INT64_MAX)
        sc_json_null(line, "threshold_bytes");
    else
        sc_json_number(line, "threshold_bytes", bytes);
}

static void put_pool(struct sc_text *line, const struct sc_statement_pool *pool)
{
    sc_json_open(line, NULL, '{');
    sc_json_hex(line, "pool", pool->handle);
    sc_json_string(line, "made_by", sc_origins_get(pool->origin).api);
    if (pool->is_imported)
        sc_json_true(line, "imported");
    if (pool->is_gone)
        sc_json_true(line, "destroyed");
    if (pool->exported_ns)
        sc_json_number(line, "exported_ns", pool->exported_ns);
    put_count(line, &pool->used);
    if (pool->is_known) {
        sc_json_number(line, "reserved_bytes", pool->reserved_bytes);
        sc_json_number(line, "reserved_peak_bytes", pool->reserved_peak_bytes);
        sc_json_number(line, "unused_bytes", unused_bytes(pool));
        put_threshold(line, pool->threshold_bytes);
        if (unused_bytes(pool) > 0)
            sc_json_string(line, "given_back_by", "cuMemPoolTrimTo");
    }
    sc_json_close(line, '}');
}

static void put_pools(struct sc_text *line, const struct sc_statement *statement, unsigned place)
{
    sc_json_open(line, "pools", '[');
    for (unsigned i = 0; i < statement->pool_count && i < POOLS_MAX; i++)
        if (statement->pools[i].place == place)
            put_pool(line, &statement->pools[i]);
    sc_json_close(line, ']');
}

static void put_graphs(struct sc_text *line, const struct sc_statement_place *place)
{
    if (!place->knows_graphs || !place->graphs_reserved_bytes)
        return;
    sc_json_open(line, "graphs", '{');
    sc_json_number(line, "used_bytes", place->graphs_used_bytes);
    sc_json_number(line, "reserved_bytes", place->graphs_reserved_bytes);
    sc_json_string(line, "given_back_by", "cuDeviceGraphMemTrim");
    sc_json_close(line, '}');
}

static void put_uuid(struct sc_text *line, const struct sc_statement_place *place)
{
    char bytes[48];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    if (!place->has_uuid) {
        sc_json_null(line, "uuid");
        return;
    }
    sc_statement_put_uuid(&text, "GPU", place->uuid);
    sc_json_string(line, "uuid", bytes);
}

/* Writes the stack of a context, an export or a step, which have half of the line at most. */
static void put_stack(struct sc_text *line, const struct sc_json_lines_stack *stack)
{
    size_t left = line->size - line->used;
    size_t most = line->size / 2 / (SC_STATEMENT_CONTEXTS + SC_LEDGER_EXPORTS + SC_STATEMENT_STEPS);
    sc_json_lines_put_stack(line, stack, left > most ? left - most : left);
}

static void put_step(struct sc_text *line, const struct sc_memory_part *part, unsigned i)
{
    const struct sc_statement_step *step = &part->statement->steps[i];
    sc_json_open(line, NULL, '{');
    sc_json_number(line, "bytes", step->bytes);
    sc_json_number(line, "times", step->times);
    sc_json_string(line, "api", sc_origins_get(step->origin).api);
    put_stack(line, &part->step_stacks[i]);
    sc_json_close(line, '}');
}

/* What the driver has for itself, as far as somebody looks. */
static void put_unaccounted(struct sc_text *line, const struct sc_memory_part *part, unsigned place)
{
    const struct sc_statement_unaccounted *row = &part->statement->places[place].unaccounted;
    if (row->is_asked && !row->is_known)
        sc_json_null(line, "unaccounted");
    if (!row->is_known)
        return;
    sc_json_open(line, "unaccounted", '{');
    sc_json_number(line, "bytes", row->bytes);
    sc_json_number(line, "peak_bytes", row->peak_bytes);
    sc_json_number(line, "driver_bytes", row->driver_bytes);
    sc_json_open(line, "steps", '[');
    for (unsigned i = 0; i < part->statement->step_count; i++)
        if (part->statement->steps[i].place == place)
            put_step(line, part, i);
    sc_json_close(line, ']');
    sc_json_close(line, '}');
}

static void put_contexts(struct sc_text *line, const struct sc_memory_part *part, unsigned place)
{
    sc_json_open(line, "contexts", '[');
    for (unsigned i = 0; i < part->statement->context_count; i++) {
        const struct sc_statement_context *contexts = &part->statement->contexts[i];
        if (contexts->place != place)
            continue;
        sc_json_open(line, NULL, '{');
        sc_json_number(line, "count", contexts->count);
        sc_json_string(line, "api", sc_origins_get(contexts->origin).api);
        put_stack(line, &part->context_stacks[i]);
        sc_json_close(line, '}');
    }
    sc_json_close(line, ']');
}

static void put_exports(struct sc_text *line, const struct sc_memory_part *part, unsigned place)
{
    sc_json_open(line, "exports", '[');
    for (unsigned i = 0; i < part->statement->export_count; i++) {
        const struct sc_ledger_export *export = &part->statement->exports[i];
        if (export->place != place)
            continue;
        sc_json_open(line, NULL, '{');
        sc_json_string(line, "kind", kind_names[export->kind]);
        sc_json_number(line, "bytes", export->size_bytes);
        sc_json_number(line, "since_ns", export->since_ns);
        sc_json_string(line, "api", sc_origins_get(export->origin).api);
        put_stack(line, &part->export_stacks[i]);
        sc_json_close(line, '}');
    }
    sc_json_close(line, ']');
}

static void put_content(struct sc_text *line, const struct sc_memory_part *part,
                        unsigned place_number)
{
    const struct sc_statement *statement = part->statement;
    const struct sc_statement_place *place = &statement->places[place_number];
    put_count(line, &place->all);
    put_kinds(line, statement, place);
    put_pools(line, statement, place_number);
    put_exports(line, part, place_number);
}

static void put_devices(struct sc_text *line, const struct sc_memory_part *part)
{
    const struct sc_statement *statement = part->statement;
    sc_json_open(line, "devices", '[');
    for (unsigned i = 0; i < SC_LEDGER_DEVICES; i++) {
        const struct sc_statement_place *place = &statement->places[i];
        if (!place->is_used)
            continue;
        sc_json_open(line, NULL, '{');
        put_place(line, i);
        put_uuid(line, place);
        put_contexts(line, part, i);
        put_content(line, part, i);
        put_graphs(line, place);
        put_unaccounted(line, part, i);
        if (place->knows_free) {
            sc_json_number(line, "free_bytes", place->free_bytes);
            sc_json_number(line, "total_bytes", place->total_bytes);
        }
        sc_json_close(line, '}');
    }
    sc_json_close(line, ']');
}

static void put_owners(struct sc_text *line, const struct sc_memory_part *part, unsigned max)
{
    sc_json_open(line, "owners", '[');
    for (unsigned i = 0; i < part->owner_count && i < max; i++) {
        const struct sc_memory_part_owner *owner = &part->owners[i];
        sc_json_open(line, NULL, '{');
        sc_json_string(line, "owner", owner->name);
        put_place(line, owner->place);
        sc_json_number(line, "bytes", owner->bytes);
        sc_json_number(line, "blocks", owner->blocks);
        sc_json_number(line, "peak_bytes", owner->peak_bytes);
        sc_json_close(line, '}');
    }
    sc_json_close(line, ']');
}

/* Each of those that are left has room for as much of its stack. */
static size_t reserve_for(const struct sc_text *line, unsigned accounts_left, size_t reserve)
{
    size_t left = line->size - line->used;
    return left > reserve ? left - (left - reserve) / (accounts_left + 1) : reserve;
}

static void put_account(struct sc_text *line, const struct sc_memory_part *part, unsigned i,
                        size_t reserve)
{
    const struct sc_statement_account *account = &part->statement->accounts[i];
    sc_json_open(line, NULL, '{');
    sc_json_string(line, "kind", kind_names[account->account.kind]);
    put_place(line, account->place);
    sc_json_string(line, "owner", part->owners_of[i]);
    const struct sc_origin origin = sc_origins_get(account->account.origin);
    const char *label = sc_annotations_label_text(origin.label);
    sc_json_string(line, "api", origin.api);
    if (label)
        sc_json_string(line, "label", label);
    sc_json_number(line, "bytes", account->account.bytes);
    sc_json_number(line, "blocks", account->account.blocks);
    sc_json_number(line, "peak_bytes", account->peak_bytes);
    sc_json_number(line, "peak_blocks", account->peak_blocks);
    sc_json_number(line, "ever_bytes", account->account.ever_bytes);
    sc_json_number(line, "ever_blocks", account->account.ever_blocks);
    sc_json_lines_put_stack(line, &part->stacks[i], reserve);
    sc_json_close(line, '}');
}

static unsigned put_accounts(struct sc_text *line, const struct sc_memory_part *part, unsigned max,
                             size_t reserve)
{
    unsigned count = part->statement->account_count, i = 0;
    count = count < max ? count : max;
    sc_json_open(line, "accounts", '[');
    for (; i < count; i++) {
        size_t before = line->used;
        put_account(line, part, i, reserve_for(line, count - i, reserve));
        if (line->cut || line->size - line->used < reserve) {
            sc_text_rewind(line, before);
            break;
        }
    }
    sc_json_close(line, ']');
    return i;
}

/* Managed memory of which something is said. */
static void put_managed(struct sc_text *line, const struct sc_statement *statement)
{
    sc_json_open(line, "managed_to", '[');
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++) {
        if (!statement->places[i].to_lie_bytes)
            continue;
        sc_json_open(line, NULL, '{');
        put_place(line, i);
        sc_json_number(line, "bytes", statement->places[i].to_lie_bytes);
        sc_json_close(line, '}');
    }
    sc_json_close(line, ']');
}

static void put_children(struct sc_text *line, const struct sc_statement *statement)
{
    if (!statement->child_count)
        return;
    sc_json_open(line, "children", '[');
    for (unsigned i = 0; i < statement->child_count; i++) {
        sc_json_open(line, NULL, '{');
        sc_json_signed(line, "pid", statement->children[i].pid);
        sc_json_string(line, "name", statement->children[i].name);
        sc_json_close(line, '}');
    }
    sc_json_close(line, ']');
}

void sc_memory_part_put(struct sc_text *line, const struct sc_memory_part *part, unsigned max,
                        size_t reserve)
{
    const struct sc_statement *statement = part->statement;
    uint64_t accounts = 0;
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++)
        accounts += statement->places[i].accounts;
    sc_json_open(line, "memory", '{');
    sc_json_number(line, "time_ns", part->time_ns);
    put_devices(line, part);
    sc_json_open(line, "host", '{');
    put_content(line, part, SC_LEDGER_HOST);
    sc_json_close(line, '}');
    put_managed(line, statement);
    put_owners(line, part, max);
    put_children(line, statement);
    uint64_t shown = put_accounts(line, part, max, reserve);
    sc_json_number(line, "accounts_left_out", accounts - shown);
    sc_json_number(line, "unknown_frees", statement->unknown_frees);
    sc_json_number(line, "unrecorded", statement->unrecorded);
    sc_json_close(line, '}');
}

/* ---- for people ---- */

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
        sc_text_char(text, ' ');
        sc_text_size(text, owner->bytes);
    }
}

static void say_children(struct sc_text *text, const struct sc_statement *statement)
{
    for (unsigned i = 0; i < statement->child_count; i++) {
        const struct sc_statement_child *child = &statement->children[i];
        sc_text_format(text, "  memory: child %d (", child->pid);
        sc_plain_put(text, child->name, strlen(child->name));
        sc_text_put(text, ") lives, and has a device open\n");
    }
}

void sc_memory_part_say(struct sc_text *text, const struct sc_memory_part *part)
{
    say_children(text, part->statement);
    for (unsigned i = 0; i < SC_LEDGER_PLACES; i++) {
        const struct sc_statement_place *place = &part->statement->places[i];
        if (!place->all.peak_bytes)
            continue;
        sc_text_put(text, "  memory: ");
        if (i == SC_LEDGER_HOST)
            sc_text_put(text, "page-locked on the host: ");
        else
            sc_text_format(text, "device %u: ", i);
        sc_text_size(text, place->all.bytes);
        sc_text_put(text, ", ");
        sc_text_size(text, place->all.peak_bytes);
        sc_text_put(text, " at most");
        sc_memory_part_say_owners(text, part, i);
        sc_text_char(text, '\n');
    }
}
