#define _GNU_SOURCE 1
#include "report/command/shown_memory.h"

#include "common/text.h"
#include "report/command/fields.h"
#include "report/command/fingerprint.h"
#include "report/command/model.h"
#include "report/command/short_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    KINDS_MAX = 32, /* of a place, also of a later version's */
    CALLS_MAX = 16,
    CALLERS_MAX = 2,
    CHILDREN_MAX = 8
};

/* Returns a number of bytes of the report, within limits: a damaged file may have any. */
uint64_t sc_shown_memory_bytes(const json_t *object, const char *key)
{
    json_int_t value = sc_field_number(object, key);
    if (value <= 0)
        return 0;
    return (uint64_t)value < SC_MEMORY_BYTES_MAX ? (uint64_t)value : SC_MEMORY_BYTES_MAX;
}

/* Returns the size in words: "1.5 MB". */
const char *sc_shown_memory_size(struct sc_scratch *scratch, uint64_t bytes)
{
    char words[32];
    struct sc_text text = sc_text_in(words, sizeof words);
    sc_text_size(&text, bytes);
    return sc_scratch_print(scratch, "%s", words);
}

/* Returns the difference in words, with its sign. */
const char *sc_shown_memory_change(struct sc_scratch *scratch, uint64_t before, uint64_t now)
{
    return now < before
               ? sc_scratch_print(scratch, "-%s", sc_shown_memory_size(scratch, before - now))
               : sc_scratch_print(scratch, "+%s", sc_shown_memory_size(scratch, now - before));
}

/* Returns in words what a framework's own allocator (PyTorch's, for one) has reserved and does not
 * use. */
const char *sc_shown_memory_suballocator(struct sc_scratch *scratch, const json_t *suballocator)
{
    const uint64_t reserved = sc_shown_memory_bytes(suballocator, "reserved_bytes");
    const uint64_t used = sc_shown_memory_bytes(suballocator, "used_bytes");
    const char *remedy = sc_field_string(suballocator, "given_back_by", NULL);
    return sc_scratch_print(
        scratch, "its own pool has %s, %s in use; %s unused%s%s%s",
        sc_shown_memory_size(scratch, reserved), sc_shown_memory_size(scratch, used),
        sc_shown_memory_size(scratch, sc_shown_memory_less(reserved, used)),
        remedy ? ", which " : "", remedy ? remedy : "", remedy ? " gives back" : "");
}

const char *sc_shown_memory_title(struct sc_scratch *scratch, const struct sc_run *run)
{
    const char *rank = sc_field_string(json_object_get(run->record, "run"), "rank", NULL);
    return rank ? sc_scratch_print(scratch, "rank %s: %s", rank, run->title) : run->title;
}

/* Returns the frame in a few characters: its function, or module and offset. */
const char *sc_shown_memory_frame(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    if (frame->function)
        return sc_short_name(scratch, frame->function);
    const char *module = frame->module ? basename(frame->module) : "";
    return sc_scratch_print(scratch, "%s%s%s", module, module[0] != '\0' ? "+" : "",
                            frame->offset ? frame->offset : "?");
}

/* ---- places ---- */

struct making {
    struct sc_scratch *scratch;
    const struct sc_frame_makers *makers;
    struct sc_memory *memory;
};

/* Makes the words for memory that the driver took after a call. */
static void make_step(struct making *making, struct sc_memory_call *step, const json_t *record)
{
    const char *api = sc_field_string(record, "api", NULL);
    uint64_t times = sc_shown_memory_bytes(record, "times");
    step->words = sc_scratch_print(
        making->scratch, "%s%s%s%s",
        sc_shown_memory_size(making->scratch, sc_shown_memory_bytes(record, "bytes")),
        api ? " behind " : ", and no call was seen", api ? api : "",
        times > 1 ? sc_scratch_print(making->scratch, ", %" PRIu64 " times", times) : "");
}

/* Makes the words for memory that other processes may have opened. */
static void make_export(struct making *making, struct sc_memory_call *export, const json_t *record)
{
    uint64_t now = (uint64_t)making->memory->time_ns;
    uint64_t age = sc_shown_memory_less(now, sc_shown_memory_bytes(record, "since_ns"));
    export->words = sc_scratch_print(
        making->scratch, "%s of %s, by %s, %.3g s before",
        sc_shown_memory_size(making->scratch, sc_shown_memory_bytes(record, "bytes")),
        sc_field_string(record, "kind", "?"), sc_field_string(record, "api", "?"),
        (double)age / 1e9);
}

/* Describes the call that made contexts. */
static void make_context(struct making *making, struct sc_memory_call *context,
                         const json_t *record)
{
    uint64_t count = sc_shown_memory_bytes(record, "count");
    context->words = sc_scratch_print(making->scratch, "%" PRIu64 " context%s, by %s", count,
                                      count == 1 ? "" : "s", sc_field_string(record, "api", "?"));
}

/* Makes the calls of a list, each described by `make`, with their stacks. *count: how many. */
static struct sc_memory_call *
make_calls(struct making *making, const json_t *records,
           void make(struct making *, struct sc_memory_call *, const json_t *), size_t *count)
{
    struct sc_memory_call *calls = sc_scratch_take(making->scratch, CALLS_MAX * sizeof *calls);
    size_t index;
    json_t *record;
    json_array_foreach(records, index, record)
    {
        if (index == CALLS_MAX)
            break;
        struct sc_memory_call *call = &calls[(*count)++];
        make(making, call, record);
        sc_frames_shown(&call->stack, making->scratch, making->makers,
                        json_object_get(record, "stack"));
    }
    return calls;
}

/* Adds the calls that are listed at a place: those after which the driver took memory, made
 * contexts, or exported memory. */
static void add_calls(struct making *making, struct sc_memory_place *place, const json_t *record)
{
    const json_t *unaccounted = json_object_get(record, "unaccounted");
    place->knows_unaccounted = json_is_object(unaccounted);
    place->unaccounted_bytes = sc_shown_memory_bytes(unaccounted, "bytes");
    place->unaccounted_peak_bytes = sc_shown_memory_bytes(unaccounted, "peak_bytes");
    place->driver_bytes = sc_shown_memory_bytes(unaccounted, "driver_bytes");
    place->steps =
        make_calls(making, json_object_get(unaccounted, "steps"), make_step, &place->step_count);
    place->contexts = make_calls(making, json_object_get(record, "contexts"), make_context,
                                 &place->context_count);
    place->exports =
        make_calls(making, json_object_get(record, "exports"), make_export, &place->export_count);
}

/* Adds a device, or the host, with all that the report says about its memory. */
static void add_place(struct making *making, const json_t *record, json_int_t device)
{
    struct sc_memory_place *place = &making->memory->places[making->memory->place_count++];
    *place = (struct sc_memory_place){
        .record = record,
        .device = device,
        .uuid = sc_field_string(record, "uuid", NULL),
        .name = device == SC_MEMORY_HOST
                    ? "host"
                    : sc_scratch_print(making->scratch, "device %" JSON_INTEGER_FORMAT, device),
        .bytes = sc_shown_memory_bytes(record, "bytes"),
        .peak_bytes = sc_shown_memory_bytes(record, "peak_bytes"),
        .peak_ns = sc_field_number(record, "peak_ns"),
        .knows_free = json_is_integer(json_object_get(record, "free_bytes")),
        .free_bytes = sc_shown_memory_bytes(record, "free_bytes"),
        .total_bytes = sc_shown_memory_bytes(record, "total_bytes"),
    };
    add_calls(making, place, record);
}

/* Adds all places of a memory line: devices, and the host. Entries with numbers that cannot be are
 * passed over. */
static void add_places(struct making *making, const json_t *member)
{
    const json_t *devices = json_object_get(member, "devices");
    size_t index, count = json_array_size(devices) + 1;
    json_t *device;
    making->memory->places =
        sc_scratch_take(making->scratch, count * sizeof *making->memory->places);
    json_array_foreach(devices, index, device)
    {
        json_int_t number = sc_field_number(device, "device");
        if (json_is_integer(json_object_get(device, "device")) && number >= 0 &&
            index < SC_MEMORY_DEVICES_MAX)
            add_place(making, device, number);
    }
    if (json_is_object(json_object_get(member, "host")))
        add_place(making, json_object_get(member, "host"), SC_MEMORY_HOST);
}

/* Returns the place of this number, or NULL if there is none. */
static const struct sc_memory_place *find_place(const struct sc_memory *memory,
                                                const json_t *device)
{
    json_int_t number = json_is_integer(device) ? json_integer_value(device) : SC_MEMORY_HOST;
    for (size_t i = 0; i < memory->place_count; i++)
        if (memory->places[i].device == number)
            return &memory->places[i];
    return NULL;
}

/* ---- accounts ---- */

/* Is memory of this kind part of what the process holds at the place? Managed memory is not, since
 * the driver moves it, nor are mappings and imported memory, which are counted elsewhere. */
static bool is_own(const char *kind)
{
    static const char *const kinds[] = {"device",   "pooled", "array",
                                        "physical", "pinned", "registered"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

/* Returns words for the user's functions that called stack->user, from the innermost on: ", from
 * keep_a_copy, main"; "" if there are none. */
static const char *callers_of(struct sc_scratch *scratch, const struct sc_frames *stack)
{
    const char *words = "";
    size_t count = 0;
    for (const struct sc_frame *frame = stack->user;
         frame && ++frame < stack->frames + stack->count && count < CALLERS_MAX;)
        if (frame->kind == SC_FRAME_USER && frame->function)
            words = sc_scratch_print(scratch, "%s%s%s", words, count++ == 0 ? ", from " : ", ",
                                     sc_short_name(scratch, frame->function));
    return words;
}

/* Words where the account's call was made: by the user's own function, or else the innermost. */
static const char *words_of(struct sc_scratch *scratch, const struct sc_memory_account *account)
{
    const struct sc_frames *stack = &account->stack;
    const struct sc_frame *innermost = stack->count > 0 ? &stack->frames[0] : NULL;
    const struct sc_frame *frame = stack->user ? stack->user : innermost;
    return sc_scratch_print(scratch, "%s, %s, by %s%s%s%s", account->owner, account->kind,
                            account->api, frame ? " at " : "",
                            frame ? sc_frames_shown_place(scratch, frame) : "",
                            callers_of(scratch, stack));
}

/* Adds what one stack has allocated of one kind. */
static void add_account(struct making *making, const json_t *record)
{
    struct sc_memory *memory = making->memory;
    const struct sc_memory_place *place = find_place(memory, json_object_get(record, "device"));
    if (!place)
        return;
    struct sc_memory_account *account = &memory->accounts[memory->account_count++];
    *account = (struct sc_memory_account){
        .place = place,
        .kind = sc_field_string(record, "kind", "?"),
        .owner = sc_field_string(record, "owner", "?"),
        .api = sc_field_string(record, "api", "?"),
        .label = sc_field_string(record, "label", NULL),
        .bytes = sc_shown_memory_bytes(record, "bytes"),
        .blocks = sc_shown_memory_bytes(record, "blocks"),
        .peak_bytes = sc_shown_memory_bytes(record, "peak_bytes"),
        .peak_blocks = sc_shown_memory_bytes(record, "peak_blocks"),
        .ever_bytes = sc_shown_memory_bytes(record, "ever_bytes"),
        .ever_blocks = sc_shown_memory_bytes(record, "ever_blocks"),
        .references = sc_shown_memory_bytes(record, "references"),
    };
    account->is_own = is_own(account->kind);
    sc_frames_shown(&account->stack, making->scratch, making->makers,
                    json_object_get(record, "stack"));
    account->words = words_of(making->scratch, account);
    account->site =
        sc_fingerprint_site(account->kind, account->owner, account->api, &account->stack);
}

/* Adds all accounts (one call stack's memory of one kind). There is room for one more of each kind
 * and place: the rest that the report leaves out. */
static void add_accounts(struct making *making, const json_t *member)
{
    struct sc_memory *memory = making->memory;
    const json_t *accounts = json_object_get(member, "accounts");
    size_t index, count = json_array_size(accounts);
    count += memory->place_count * (KINDS_MAX + 1); /* what is left out */
    memory->accounts = sc_scratch_take(making->scratch, count * sizeof *memory->accounts);
    json_t *account;
    json_array_foreach(accounts, index, account) add_account(making, account);
}

/* ---- the rest ---- */

/* Adds an account for those that were left out, with what they have together; none if that is
 * nothing. */
static void add_rest(struct making *making, struct sc_memory_account rest)
{
    if (rest.bytes == 0 && rest.blocks == 0 && rest.peak_bytes == 0)
        return;
    rest.ever_bytes = rest.bytes; /* at least */
    rest.ever_blocks = rest.blocks;
    rest.owner = "others";
    rest.api = "others";
    rest.is_rest = true;
    rest.is_own = is_own(rest.kind) || rest.peak_bytes > 0;
    rest.words = sc_scratch_print(making->scratch, "%s of others, with less", rest.kind);
    rest.site = sc_fingerprint_site(rest.kind, rest.owner, rest.api, &rest.stack);
    making->memory->accounts[making->memory->account_count++] = rest;
}

/* Adds up the accounts of a place, or of one kind there. */
static void add_up(const struct sc_memory *memory, size_t count,
                   const struct sc_memory_place *place, const char *kind,
                   struct sc_memory_account *sum)
{
    for (size_t i = 0; i < count; i++) {
        const struct sc_memory_account *account = &memory->accounts[i];
        if (account->place != place || (kind && strcmp(account->kind, kind) != 0))
            continue;
        sc_shown_memory_add(&sum->bytes, account->bytes);
        sc_shown_memory_add(&sum->blocks, account->blocks);
        sc_shown_memory_add(&sum->peak_bytes, account->is_own ? account->peak_bytes : 0);
    }
}

/* Adds accounts for the memory at the place that no listed account explains: one for each kind of
 * memory that is held, and one for the peak, of which the report has only one sum for the
 * place. */
static void add_rest_of_place(struct making *making, const struct sc_memory_place *place)
{
    const struct sc_memory *memory = making->memory;
    size_t count = memory->account_count, kinds = 0;
    struct sc_memory_account sum = {0};
    const char *kind;
    json_t *record;
    json_object_foreach(json_object_get(place->record, "kinds"), kind, record)
    {
        struct sc_memory_account told = {0};
        if (kinds++ == KINDS_MAX)
            break;
        add_up(memory, count, place, kind, &told);
        add_rest(making, (struct sc_memory_account){
                             .place = place,
                             .kind = kind,
                             .bytes = sc_shown_memory_less(sc_shown_memory_bytes(record, "bytes"),
                                                           told.bytes),
                             .blocks = sc_shown_memory_less(sc_shown_memory_bytes(record, "blocks"),
                                                            told.blocks),
                         });
    }
    add_up(memory, count, place, NULL, &sum);
    add_rest(making, (struct sc_memory_account){
                         .place = place,
                         .kind = "any kind",
                         .peak_bytes = sc_shown_memory_less(place->peak_bytes, sum.peak_bytes),
                     });
}

/* ---- the whole ---- */

/* Returns in words which child processes have a device open; NULL: none. */
static const char *children_of(struct sc_scratch *scratch, const json_t *member)
{
    const json_t *children = json_object_get(member, "children");
    const char *words = NULL;
    size_t index;
    json_t *child;
    json_array_foreach(children, index, child)
    {
        if (index == CHILDREN_MAX)
            break;
        words =
            sc_scratch_print(scratch, "%s %" JSON_INTEGER_FORMAT " (%s)",
                             words ? words : "children live on and have a device open:",
                             sc_field_number(child, "pid"), sc_field_string(child, "name", "?"));
    }
    return words;
}

/* Makes what is shown of a member `memory` of a report: places, accounts, and the names of the
 * frames in their stacks. */
struct sc_memory sc_shown_memory_make(struct sc_scratch *scratch,
                                      const struct sc_frame_makers *makers, const json_t *member)
{
    struct sc_memory memory = {.record = json_is_object(member) ? member : NULL};
    struct making making = {scratch, makers, &memory};
    memory.time_ns =
        sc_field_number(member, "time_ns") > 0 ? sc_field_number(member, "time_ns") : 0;
    memory.children = children_of(scratch, member);
    memory.left_out = sc_field_number(member, "accounts_left_out");
    add_places(&making, member);
    add_accounts(&making, member);
    for (size_t i = 0; memory.left_out > 0 && i < memory.place_count; i++)
        add_rest_of_place(&making, &memory.places[i]);
    return memory;
}

/* Returns the memory that a run had at its end; if it did not end, as its last line about memory
 * says. */
struct sc_memory sc_shown_memory_of_entry(struct sc_scratch *scratch,
                                          const struct sc_frame_makers *makers, const json_t *entry)
{
    const json_t *of_summary = json_object_get(json_object_get(entry, "summary"), "memory");
    const json_t *of_line = json_object_get(json_object_get(entry, "memory"), "memory");
    bool is_line = !json_is_object(of_summary) && json_is_object(of_line);
    struct sc_memory memory = sc_shown_memory_make(scratch, makers, is_line ? of_line : of_summary);
    memory.is_line = is_line;
    return memory;
}

struct sc_memory sc_shown_memory_of_run(struct sc_model *model, const struct sc_run *run)
{
    return sc_shown_memory_of_entry(&model->scratch, &model->makers, run->record);
}

/* Returns what the process held last; nothing if it went on as another program, whose run comes
 * later. */
struct sc_memory sc_shown_memory_of_process(struct sc_model *model, const struct sc_run *run)
{
    return run->replaced ? (struct sc_memory){0} : sc_shown_memory_of_run(model, run);
}
