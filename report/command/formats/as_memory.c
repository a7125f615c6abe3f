/* Who holds which memory, for people, and no hazards (docs/memory.md): several processes side by
 * side, what has grown, what differs from a baseline, and of each run what its summary says.
 * Nothing that a report contains steers the terminal or begins a line of its own.
 */
#include "report/command/baseline.h"
#include "report/command/fields.h"
#include "report/command/formats/formats.h"
#include "report/command/memory_failure.h"
#include "report/command/memory_history.h"
#include "report/command/memory_ranks.h"
#include "report/command/memory_sites.h"
#include "report/command/memory_tree.h"
#include "report/command/say.h"
#include "report/command/shown_memory.h"

#include <string.h>

#define NUMBER "%" JSON_INTEGER_FORMAT
#define PLAIN(text) sc_say_plain(text)

enum { CHANGES_MAX = 16 };

/* Returns the size in words: "1.5 GB". */
static const char *size(struct sc_model *model, uint64_t bytes)
{
    return sc_shown_memory_size(&model->scratch, bytes);
}

/* Returns a member of the record as a size in words. */
static const char *size_of(struct sc_model *model, const json_t *object, const char *key)
{
    return size(model, sc_shown_memory_bytes(object, key));
}

static const char *plural(json_int_t count)
{
    return count == 1 ? "" : "s";
}

/* Prints what a place holds of each kind of memory. */
static void print_kinds(FILE *out, struct sc_model *model, const json_t *place)
{
    const char *kind;
    json_t *count;
    json_object_foreach(json_object_get(place, "kinds"), kind, count)
    {
        json_int_t blocks = sc_field_number(count, "blocks");
        if (strcmp(kind, "graph_execs") == 0) {
            fprintf(out, "    graph execs: " NUMBER "\n", blocks);
            continue;
        }
        fprintf(out, "    %s: %s in " NUMBER " block%s, %s at most", PLAIN(kind),
                size_of(model, count, "bytes"), blocks, plural(blocks),
                size_of(model, count, "peak_bytes"));
        if (sc_field_number(count, "backed_bytes") > 0)
            fprintf(out, "; the driver takes %s at least", size_of(model, count, "backed_bytes"));
        if (sc_field_number(count, "settled") > 0)
            fprintf(out, "; waited for by " NUMBER " call%s", sc_field_number(count, "settled"),
                    plural(sc_field_number(count, "settled")));
        fputc('\n', out);
    }
}

/* Prints a memory pool: what is in use, and what could be given back. */
static void print_pool(FILE *out, struct sc_model *model, const json_t *pool)
{
    const char *made_by = sc_field_string(pool, "made_by", NULL);
    const char *remedy = sc_field_string(pool, "given_back_by", NULL);
    fprintf(out, "    pool %s", PLAIN(sc_field_string(pool, "pool", "?")));
    if (made_by)
        fprintf(out, " of %s", PLAIN(made_by));
    if (json_is_true(json_object_get(pool, "destroyed")))
        fputs(", destroyed", out);
    fprintf(out, ": %s in use", size_of(model, pool, "bytes"));
    if (json_object_get(pool, "reserved_bytes"))
        fprintf(out, " of %s", size_of(model, pool, "reserved_bytes"));
    if (remedy)
        fprintf(out, "; %s unused, which %s gives back", size_of(model, pool, "unused_bytes"),
                PLAIN(remedy));
    fputc('\n', out);
}

/* Prints the place's memory pools, and what graphs have reserved. */
static void print_pools(FILE *out, struct sc_model *model, const json_t *place)
{
    size_t index;
    json_t *pool;
    json_array_foreach(json_object_get(place, "pools"), index, pool)
    {
        print_pool(out, model, pool);
    }
    const json_t *graphs = json_object_get(place, "graphs");
    if (graphs)
        fprintf(out, "    graphs: %s in use of %s; %s gives back the rest\n",
                size_of(model, graphs, "used_bytes"), size_of(model, graphs, "reserved_bytes"),
                PLAIN(sc_field_string(graphs, "given_back_by", "?")));
}

/* Is the entry of this place? `number`: the place's device; an entry of the host has none, or
 * null. */
static bool is_of_place(const json_t *entry, const json_t *number)
{
    const json_t *device = json_object_get(entry, "device");
    return number ? json_equal(device, number) : !device || json_is_null(device);
}

static const char *owner_of(const json_t *entry)
{
    return sc_field_string(entry, "owner", "?");
}

/* Prints the pools that an owner (PyTorch, say) has told of itself, as a part of what it has. */
static void print_own_pools(FILE *out, struct sc_model *model, const json_t *place,
                            const char *owner)
{
    size_t index;
    json_t *pool;
    json_array_foreach(json_object_get(place, "suballocators"), index, pool)
    {
        if (strcmp(owner_of(pool), owner) == 0)
            fprintf(out, "      of that %s\n",
                    PLAIN(sc_shown_memory_suballocator(&model->scratch, pool)));
    }
}

/* Has the library `name` memory at this place (`number`: its device), so that it is listed? */
static bool has_owner(const json_t *memory, const json_t *number, const char *name)
{
    size_t index;
    json_t *owner;
    json_array_foreach(json_object_get(memory, "owners"), index, owner)
    {
        if (is_of_place(owner, number) && strcmp(owner_of(owner), name) == 0)
            return true;
    }
    return false;
}

/* Prints the pools that were told under a name by which no owner is listed at the place. */
static void print_lone_pools(FILE *out, struct sc_model *model, const json_t *memory,
                             const json_t *place, const json_t *number)
{
    size_t index;
    json_t *pool;
    json_array_foreach(json_object_get(place, "suballocators"), index, pool)
    {
        if (!has_owner(memory, number, owner_of(pool)))
            fprintf(out, "    %s: %s\n", PLAIN(owner_of(pool)),
                    PLAIN(sc_shown_memory_suballocator(&model->scratch, pool)));
    }
}

/* Prints which libraries hold the place's memory, and beside each its own pool; then pools of
 * libraries that hold nothing. */
static void print_owners(FILE *out, struct sc_model *model, const json_t *memory,
                         const json_t *place, const json_t *number)
{
    size_t index;
    json_t *owner;
    json_array_foreach(json_object_get(memory, "owners"), index, owner)
    {
        if (!is_of_place(owner, number))
            continue;
        fprintf(out, "    %s: %s, %s at the peak\n", PLAIN(owner_of(owner)),
                size_of(model, owner, "bytes"), size_of(model, owner, "peak_bytes"));
        print_own_pools(out, model, place, owner_of(owner));
    }
    print_lone_pools(out, model, memory, place, number);
}

static void print_stack(FILE *out, const struct sc_frames *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        fprintf(out, "        #%zu %s\n", i, PLAIN(stack->frames[i].words));
}

/* Prints calls with their stacks. */
static void print_calls(FILE *out, const struct sc_memory_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "      %s\n", PLAIN(calls[i].words));
        print_stack(out, &calls[i].stack);
    }
}

/* Prints what the driver has taken for itself on the device. */
static void print_unaccounted(FILE *out, struct sc_model *model,
                              const struct sc_memory_place *place)
{
    if (!place->knows_unaccounted)
        return;
    fprintf(out, "    unaccounted: %s, %s at most; the driver says the process has %s\n",
            size(model, place->unaccounted_bytes), size(model, place->unaccounted_peak_bytes),
            size(model, place->driver_bytes));
    print_calls(out, place->steps, place->step_count);
}

/* Returns how many references keep the block, as ", 64 references not released"; for none "", or ",
 * released, and mapped still" of physical memory that still exists. */
static const char *references_of(struct sc_model *model, const struct sc_memory_account *account)
{
    const json_int_t count = (json_int_t)account->references;
    if (count == 0)
        return strcmp(account->kind, "physical") == 0 && account->blocks > 0
                   ? ", released, and mapped still"
                   : "";
    return sc_scratch_print(&model->scratch, ", " NUMBER " reference%s not released", count,
                            plural(count));
}

/* Prints what one call stack holds of one kind of memory. is_rest: the sum of those that the
 * report leaves out. */
static void print_account(FILE *out, struct sc_model *model,
                          const struct sc_memory_account *account)
{
    json_int_t blocks = (json_int_t)account->blocks;
    fprintf(out, "    %s in " NUMBER " block%s, %s at the peak: ", size(model, account->bytes),
            blocks, plural(blocks), size(model, account->peak_bytes));
    if (account->is_rest)
        fprintf(out, "%s\n", PLAIN(account->words));
    else
        fprintf(out, "%s, %s, by %s%s%s%s\n", PLAIN(account->owner), PLAIN(account->kind),
                PLAIN(account->api), account->label ? ", during " : "",
                account->label ? PLAIN(account->label) : "", references_of(model, account));
    print_stack(out, &account->stack);
}

/* Prints the place, what it holds, and how much of the device is free. */
static void print_head(FILE *out, struct sc_model *model, const struct sc_memory_place *place)
{
    if (place->device == SC_MEMORY_HOST)
        fputs("  page-locked on the host", out);
    else
        fprintf(out, "  %s (%s)", PLAIN(place->name), PLAIN(place->uuid ? place->uuid : "no name"));
    fprintf(out, ": %s, %s at most", size(model, place->bytes), size(model, place->peak_bytes));
    if (place->knows_free)
        fprintf(out, "; %s of %s is free", size(model, place->free_bytes),
                size(model, place->total_bytes));
    fputc('\n', out);
}

/* Prints all that is known of the memory at one place: a device, or the host. */
static void print_place(FILE *out, struct sc_model *model, const struct sc_memory *memory,
                        const struct sc_memory_place *place)
{
    const json_t *number = json_object_get(place->record, "device");
    if (!sc_shown_memory_has_any(place))
        return;
    print_head(out, model, place);
    print_owners(out, model, memory->record, place->record, number);
    print_kinds(out, model, place->record);
    print_pools(out, model, place->record);
    print_unaccounted(out, model, place);
    if (place->export_count > 0)
        fputs("    open to others:\n", out);
    print_calls(out, place->exports, place->export_count);
    for (size_t i = 0; i < memory->account_count; i++)
        if (memory->accounts[i].place == place)
            print_account(out, model, &memory->accounts[i]);
    print_calls(out, place->contexts, place->context_count);
}

/* ---- differences ---- */

/* Prints by which call stacks more or less memory is held than before, most changed first. */
static void print_changes(FILE *out, struct sc_scratch *scratch, struct sc_memory_sites *sites,
                          bool with_peak)
{
    size_t count;
    struct sc_memory_site **changed = sc_memory_sites_changed(sites, with_peak, &count);
    for (size_t i = 0; i < count && i < CHANGES_MAX; i++)
        fprintf(out, "    %s\n", PLAIN(sc_memory_site_words(scratch, changed[i], with_peak)));
    if (count > CHANGES_MAX)
        fprintf(out, "    and %zu more\n", count - CHANGES_MAX);
    if (count == 0)
        fputs("    no difference\n", out);
}

/* Returns a time in seconds, for people. */
static const char *seconds(struct sc_model *model, json_int_t ns)
{
    return sc_scratch_print(&model->scratch, "%.3g s", (double)ns / 1e9);
}

/* Prints what each place has more or less than in the line before, after the words. */
static void print_growth_of_places(FILE *out, struct sc_model *model,
                                   const struct sc_memory *before, const struct sc_memory *now)
{
    fprintf(out, ", %s before:", seconds(model, now->time_ns - before->time_ns));
    for (size_t i = 0; i < now->place_count; i++) {
        uint64_t bytes = 0;
        for (size_t at = 0; at < before->place_count; at++)
            if (before->places[at].device == now->places[i].device)
                bytes = before->places[at].bytes;
        fprintf(out, "%s %s %s", i > 0 ? "," : "",
                sc_shown_memory_change(&model->scratch, bytes, now->places[i].bytes),
                PLAIN(now->places[i].name));
    }
    fputc('\n', out);
}

/* Writes what has changed between two lines about memory. */
static void print_growth(FILE *out, struct sc_model *model, const struct sc_memory *before,
                         const struct sc_memory *now)
{
    struct sc_memory_sites sites = {0}, labels = {0};
    sc_memory_sites_add(&sites, SC_MEMORY_BEFORE, before);
    sc_memory_sites_add(&sites, SC_MEMORY_NOW, now);
    sc_memory_sites_add_labels(&labels, SC_MEMORY_BEFORE, before);
    sc_memory_sites_add_labels(&labels, SC_MEMORY_NOW, now);
    print_changes(out, &model->scratch, &sites, false);
    if (labels.first) {
        fputs("  the same by label\n", out);
        print_changes(out, &model->scratch, &labels, false);
    }
    sc_memory_sites_free(&sites);
    sc_memory_sites_free(&labels);
}

/* Prints what has changed between the first memory line and the last, and from the middle one on:
 * what a program allocates once is there by then. */
static void print_lines(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    struct sc_memory moments[SC_MEMORY_LINES_SHOWN];
    const bool is_between = sc_memory_between_is_given(&model->reader->between);
    if (!sc_memory_history_lines(model, run, moments)) {
        if (is_between)
            fputs("  there are no such two lines about memory\n", out);
        return;
    }
    const struct sc_memory *first = &moments[SC_MEMORY_FIRST_LINE],
                           *middle = &moments[SC_MEMORY_MIDDLE_LINE],
                           *last = &moments[SC_MEMORY_LAST_LINE];
    fputs(is_between ? "  between these two lines, since the first" : "  since the first line",
          out);
    print_growth_of_places(out, model, first, last);
    if (first->time_ns < middle->time_ns && middle->time_ns < last->time_ns) {
        fputs("  since one in the middle", out);
        print_growth_of_places(out, model, middle, last);
    }
    print_growth(out, model, first, last);
}

/* Prints what holds more or less memory than in the baseline. */
static void print_baseline(FILE *out, struct sc_model *model)
{
    struct sc_memory_sites *sites = sc_baseline_memory(model->baseline);
    sc_memory_sites_add_all(sites, model);
    fprintf(out, "since the baseline (%zu process%s there, %zu here)\n",
            sites->runs[SC_MEMORY_BEFORE], sites->runs[SC_MEMORY_BEFORE] == 1 ? "" : "es",
            sites->runs[SC_MEMORY_NOW]);
    print_changes(out, &model->scratch, sites, true);
}

/* ---- an allocation that failed ---- */

/* Prints which allocation failed for want of memory, if one did. */
static void print_failure(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    struct sc_frames stack;
    const char *words = sc_memory_failure_words(model, run, &stack);
    if (!words)
        return;
    fprintf(out, "  %s\n", PLAIN(words));
    print_stack(out, &stack);
}

/* ---- several processes ---- */

/* Prints a process's line in the table of processes; '!' marks one that differs from the
 * others. */
static void print_row(FILE *out, struct sc_model *model, const struct sc_memory_rank *rank)
{
    const struct sc_run *run = sc_model_run(model, rank->run);
    fprintf(out, "  %9s %9s %12s   %s%s\n", size(model, rank->values[SC_MEMORY_HELD]),
            size(model, rank->values[SC_MEMORY_PEAK]), size(model, rank->values[SC_MEMORY_LOCKED]),
            rank->stands_out ? "! " : "", PLAIN(sc_shown_memory_title(&model->scratch, run)));
}

/* Prints what all processes hold together, by device and by host. Memory that is imported is
 * counted with the process that exported it. */
static void print_together(FILE *out, struct sc_model *model)
{
    struct sc_scratch scratch = {0};
    struct sc_memory_tree tree = {.scratch = &scratch};
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        const struct sc_memory memory = sc_shown_memory_of_process(model, run);
        const char *host = sc_field_string(json_object_get(run->record, "run"), "host", "?");
        for (size_t at = 0; at < memory.place_count; at++) {
            const struct sc_memory_place *place = &memory.places[at];
            const char *name = place->uuid
                                   ? sc_scratch_print(&scratch, "%s", place->uuid)
                                   : sc_scratch_print(&scratch, "%s of %s", place->name, host);
            const struct sc_memory_account of_process = {.bytes = place->bytes, .blocks = 1};
            if (place->bytes > 0)
                sc_memory_tree_add(&tree, &name, 1, &of_process);
        }
    }
    sc_memory_tree_sort(&tree);
    for (const struct sc_memory_branch *one = tree.root.first; one; one = one->next)
        fprintf(out, "  %9s together: %s, by %zu process%s\n", size(model, one->bytes),
                PLAIN(one->name), (size_t)one->blocks, one->blocks == 1 ? "" : "es");
    sc_memory_tree_free(&tree);
    sc_scratch_free(&scratch);
}

/* Prints what a process holds on a device that most processes do not use. */
static void print_stray(FILE *out, struct sc_model *model, const struct sc_memory *memory,
                        json_int_t device)
{
    for (size_t i = 0; i < memory->account_count; i++)
        if (memory->accounts[i].place->device == device)
            print_account(out, model, &memory->accounts[i]);
    for (size_t i = 0; i < memory->place_count; i++)
        if (memory->places[i].device == device) {
            print_calls(out, memory->places[i].contexts, memory->places[i].context_count);
            print_unaccounted(out, model, &memory->places[i]);
        }
}

/* Writes a process that holds much more or less than others, or memory of a device that they do not
 * use, and of what. */
static void print_outlier(FILE *out, struct sc_model *model,
                          const struct sc_memory_outlier *outlier)
{
    struct sc_memory_sites sites = {0};
    const struct sc_run *run = sc_model_run(model, outlier->typical);
    struct sc_memory memory = sc_shown_memory_of_run(model, run);
    sc_memory_sites_add(&sites, SC_MEMORY_BEFORE, &memory);
    run = sc_model_run(model, outlier->run);
    memory = sc_shown_memory_of_run(model, run);
    sc_memory_sites_add(&sites, SC_MEMORY_NOW, &memory);
    fprintf(out, "  stands out: %s: %s\n", PLAIN(sc_shown_memory_title(&model->scratch, run)),
            PLAIN(sc_memory_ranks_words(&model->scratch, outlier)));
    if (outlier->stray != SC_MEMORY_HOST)
        print_stray(out, model, &memory, outlier->stray);
    else
        print_changes(out, &model->scratch, &sites, true);
    sc_memory_sites_free(&sites);
}

/* Writes all processes of a job in a table, and those that stand out. */
static void print_side_by_side(FILE *out, struct sc_model *model)
{
    struct sc_memory_ranks ranks = sc_memory_ranks_make(model);
    if (ranks.count > 1) {
        fprintf(out, "%zu processes\n  %9s %9s %12s   process\n", ranks.count, "now", "at most",
                "page-locked");
        for (size_t i = 0; i < ranks.count; i++)
            print_row(out, model, &ranks.ranks[i]);
        print_together(out, model);
    }
    for (size_t i = 0; i < ranks.outlier_count; i++)
        print_outlier(out, model, &ranks.outliers[i]);
    sc_memory_ranks_free(&ranks);
}

/* ---- limits ---- */

static bool is_by(const json_t *event, const char *author)
{
    return strcmp(sc_field_string(event, "by", ""), author) == 0;
}

/* Prints who set or fixed a limit, as "device 0: CU_LIMIT_MALLOC_HEAP_SIZE: the program set it to
 * 256 MB; 256 MB in force", with the stack. */
static void print_limit(FILE *out, struct sc_model *model, const json_t *event)
{
    struct sc_frames stack;
    const char *kernel = sc_field_string(event, "kernel", NULL);
    json_int_t result = sc_field_number(event, "result");
    fprintf(out, "    device " NUMBER ": %s: ", sc_field_number(event, "device"),
            PLAIN(sc_field_string(event, "limit", "?")));
    if (is_by(event, "launch"))
        fprintf(out, "fixed at %s by %s%s", size_of(model, event, "in_force"),
                kernel ? "the launch of " : "a launch", kernel ? PLAIN(kernel) : "");
    else
        fprintf(out, "%s %s to %s", is_by(event, "option") ? "an option" : "the program",
                result ? "could not set it" : "set it", size_of(model, event, "asked"));
    if (result)
        fprintf(out, " (error " NUMBER ")", result);
    if (!is_by(event, "launch"))
        fprintf(out, "; %s in force", size_of(model, event, "in_force"));
    fprintf(out, "%s\n",
            json_is_true(json_object_get(event, "context_ended")) ? "; the context has ended" : "");
    sc_frames_shown(&stack, &model->scratch, &model->makers, json_object_get(event, "stack"));
    print_stack(out, &stack);
}

/* Prints a module that uses the device's heap, as " device 0: a module of 7 KB calls malloc:
 * take". */
static void print_module(FILE *out, struct sc_model *model, const json_t *module)
{
    struct sc_frames stack;
    const json_t *device = json_object_get(module, "device");
    if (json_is_integer(device))
        fprintf(out, "    device " NUMBER ": ", json_integer_value(device));
    else
        fputs("    a device that is not known: ", out);
    fprintf(out, "a module of %s calls malloc", size_of(model, module, "bytes"));
    if (sc_field_string(module, "caller", NULL))
        fprintf(out, ": %s", PLAIN(sc_field_string(module, "caller", "?")));
    fputc('\n', out);
    sc_frames_shown(&stack, &model->scratch, &model->makers, json_object_get(module, "stack"));
    print_stack(out, &stack);
}

/* Prints the modules whose kernels call malloc on the device. */
static void print_modules(FILE *out, struct sc_model *model, const json_t *limits)
{
    json_int_t left_out = sc_field_number(limits, "modules_left_out");
    size_t index;
    json_t *module;
    json_array_foreach(json_object_get(limits, "modules"), index, module)
    {
        print_module(out, model, module);
    }
    if (left_out > 0)
        fprintf(out, "    and " NUMBER " modules more\n", left_out);
}

/* Prints which limits of contexts were set, when and by whom. */
static void print_limits(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    const json_t *limits = json_object_get(json_object_get(run->record, "summary"), "limits");
    const json_t *events = json_object_get(limits, "events");
    json_int_t left_out = sc_field_number(limits, "events_left_out");
    size_t index;
    json_t *event;
    if (limits)
        fputs("  limits:\n", out);
    json_array_foreach(events, index, event)
    {
        print_limit(out, model, event);
    }
    if (left_out > 0)
        fprintf(out, "    and " NUMBER " more\n", left_out);
    print_modules(out, model, limits);
}

/* ---- the whole ---- */

/* Prints that the numbers are those of a run's last line, as it left no summary, or that there are
 * none. */
static void print_doubt(FILE *out, const struct sc_memory *memory, const struct sc_run *run)
{
    const char *why = run->ended      ? "memory=off"
                      : run->replaced ? "the process went on as another program"
                                      : "the run did not end normally";
    if (memory->record ? memory->is_line : !json_object_get(run->record, "unreadable"))
        fprintf(out, "  %s: %s\n",
                memory->record ? "as its last line says" : "it is not known what it holds", why);
}

/* Prints the limits of memory that the system sets the process, beside what the devices have. */
static void print_memory_limits(FILE *out, const struct sc_run *run)
{
    size_t index;
    json_t *limit;
    json_array_foreach(json_object_get(json_object_get(run->record, "run"), "memory_limits"), index,
                       limit)
    {
        fprintf(out, "  limit: %s", PLAIN(sc_field_string(limit, "value", "?")));
        fprintf(out, ", by %s\n", PLAIN(sc_field_string(limit, "source", "?")));
    }
}

/* Prints where managed memory is to lie: " managed memory, as advised or prefetched: 768 MB to
 * device 0, 768 MB to the host". */
static void print_managed(FILE *out, struct sc_model *model, const json_t *memory)
{
    size_t index;
    json_t *part;
    json_array_foreach(json_object_get(memory, "managed_to"), index, part)
    {
        const json_t *device = json_object_get(part, "device");
        fprintf(out, "%s%s to ", index ? ", " : "  managed memory, as advised or prefetched: ",
                size_of(model, part, "bytes"));
        if (json_is_integer(device))
            fprintf(out, "device " NUMBER, json_integer_value(device));
        else
            fputs("the host", out);
    }
    if (index)
        fputc('\n', out);
}

/* Writes how managed memory has moved. */
static void print_moves(FILE *out, struct sc_model *model, const json_t *um)
{
    size_t index;
    json_t *device;
    json_array_foreach(json_object_get(um, "devices"), index, device)
    {
        fprintf(out,
                "  managed memory, device " NUMBER ": " NUMBER " page faults, %s from the host, ",
                sc_field_number(device, "device"), sc_field_number(device, "faults"),
                size_of(model, device, "from_host_bytes"));
        fprintf(out, "%s from other devices, ", size_of(model, device, "from_devices_bytes"));
        fprintf(out, "%s to the host", size_of(model, device, "to_host_bytes"));
        fprintf(out, ", %s of it to make room\n", size_of(model, device, "evicted_bytes"));
    }
    if (sc_field_number(um, "thrashing_bytes") > 0)
        fprintf(out, "  managed memory: %s went to and fro\n",
                size_of(model, um, "thrashing_bytes"));
}

/* Prints what CUPTI reported of managed memory with um=1, or why it reported nothing. */
static void print_um(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    const json_t *um = json_object_get(json_object_get(run->record, "summary"), "um");
    const char *state = sc_field_string(um, "state", "listening");
    const char *detail = sc_field_string(um, "detail", NULL);
    print_moves(out, model, um);
    if (strcmp(state, "listening") != 0)
        fprintf(out, "  managed memory: page faults are not counted: CUPTI is %s%s%s\n",
                PLAIN(state), detail ? ": " : "", detail ? PLAIN(detail) : "");
    if (sc_field_number(um, "dropped") > 0)
        fprintf(out, "  managed memory: " NUMBER " records of CUPTI's were lost\n",
                sc_field_number(um, "dropped"));
}

/* Prints the memory of one run. */
static void print_run(FILE *out, struct sc_model *model, size_t index)
{
    const struct sc_run *run = sc_model_run(model, index);
    const struct sc_memory memory = sc_shown_memory_of_run(model, run);
    fprintf(out, "%s: %s\n", PLAIN(run->file), PLAIN(run->title));
    print_doubt(out, &memory, run);
    print_memory_limits(out, run);
    print_failure(out, model, run);
    for (size_t i = 0; i < memory.place_count; i++)
        print_place(out, model, &memory, &memory.places[i]);
    if (memory.children)
        fprintf(out, "  %s\n", PLAIN(memory.children));
    print_limits(out, model, run);
    print_managed(out, model, memory.record);
    print_um(out, model, run);
    print_lines(out, model, run);
}

/* Prints who holds memory: all processes side by side, each by itself, and what has changed since
 * the baseline. */
void sc_as_memory(FILE *out, struct sc_model *model)
{
    print_side_by_side(out, model);
    for (size_t i = 0; i < model->reader->run_count; i++)
        print_run(out, model, i);
    if (model->baseline)
        print_baseline(out, model);
}
