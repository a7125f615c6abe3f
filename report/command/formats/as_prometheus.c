/* Hazards and memory for Prometheus, in its text format: a file for node_exporter's textfile
 * collector, which -o puts there whole by a rename. `hw_gpu_memory_*` are OpenTelemetry's
 * hw.gpu.memory.usage and .limit, as Prometheus writes such names.
 *
 * The samples of a metric stand together and are different: of a process that has several runs, and
 * of a device that several processes use, the last one tells.
 */
#define _GNU_SOURCE 1
#include "report/command/fields.h"
#include "report/command/formats/formats.h"
#include "report/command/memory_tree.h"
#include "report/command/say.h"
#include "report/command/shown_memory.h"
#include "report/command/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum metric {
    HAZARDS,
    OPERATIONS,
    ENDED,
    BYTES,
    BLOCKS,
    PEAK,
    OWNER,
    UNUSED,
    UNACCOUNTED,
    FAILURES,
    USAGE,
    LIMIT,
    METRICS
};

static const struct {
    const char *name, *type, *help;
} metrics[METRICS] = {
    [HAZARDS] = {"safecopy_hazards_total", "counter", "Hazards that were found, by code."},
    [OPERATIONS] = {"safecopy_operations_total", "counter",
                    "Asynchronous operations that were looked at, of a process that has ended."},
    [ENDED] = {"safecopy_ended", "gauge", "Whether the process has ended normally."},
    [BYTES] = {"safecopy_memory_bytes", "gauge", "Memory that the process holds, by kind."},
    [BLOCKS] = {"safecopy_memory_blocks", "gauge", "Blocks of it."},
    [PEAK] = {"safecopy_memory_peak_bytes", "gauge", "The most that it held at one time."},
    [OWNER] = {"safecopy_memory_owner_bytes", "gauge",
               "Memory that it holds, by the library that asked for it."},
    [UNUSED] = {"safecopy_memory_pool_unused_bytes", "gauge",
                "Memory that its pools keep and nobody uses."},
    [UNACCOUNTED] = {"safecopy_memory_unaccounted_bytes", "gauge",
                     "Memory that the driver says it has beyond what is known."},
    [FAILURES] = {"safecopy_memory_failures_total", "counter",
                  "Allocations that failed for want of memory."},
    [USAGE] = {"hw_gpu_memory_usage_bytes", "gauge", "Memory of the device in use, by whomever."},
    [LIMIT] = {"hw_gpu_memory_limit_bytes", "gauge", "Memory of the device."},
};

struct exposition {
    FILE *streams[METRICS]; /* NULL: out of memory */
    char *texts[METRICS];
    size_t sizes[METRICS];
    struct sc_table seen; /* processes and devices */
    struct sc_scratch scratch;
};

/* ---- samples ---- */

/* Writes a label of a metric, escaped. */
static void put_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (value = sc_say_plain(value); *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', out);
        fputc(*value, out);
    }
    fputc('"', out);
}

/* Writes a sample with its labels: pairs of name and value, up to a NULL name. A label without a
 * value is left out. */
static void put_sample(struct exposition *exposition, enum metric metric, const char *const *labels,
                       uint64_t value)
{
    FILE *out = exposition->streams[metric];
    const char *separator = "";
    if (!out)
        return;
    fprintf(out, "%s{", metrics[metric].name);
    for (; labels[0]; labels += 2) {
        if (!labels[1])
            continue;
        fputs(separator, out);
        put_label(out, labels[0], labels[1]);
        separator = ",";
    }
    fprintf(out, "} %" PRIu64 "\n", value);
}

/* Notes the key of samples. Returns whether it is the first with this key: a sample must not be
 * written twice. */
static bool note_first(struct exposition *exposition, struct sc_digester *digester)
{
    struct sc_digest digest = sc_digest_end(digester);
    if (sc_table_find(&exposition->seen, &digest))
        return false;
    struct sc_node *node = sc_scratch_take(&exposition->scratch, sizeof *node);
    node->digest = digest;
    return sc_table_add(&exposition->seen, node);
}

/* ---- a run ---- */

struct process {
    struct exposition *exposition;
    const char *pid, *host, *rank;
};

/* Writes one sample of a metric, with the labels of its process. */
static void put(const struct process *process, enum metric metric,
                const struct sc_memory_place *place, const char *key, const char *value,
                uint64_t number)
{
    const char *const labels[] = {"place", place ? place->name : NULL,
                                  "uuid",  place ? place->uuid : NULL,
                                  "pid",   process->pid,
                                  "host",  process->host,
                                  "rank",  process->rank,
                                  key,     value,
                                  NULL};
    put_sample(process->exposition, metric, labels, number);
}

/* Returns how much the place's pools keep unused, in all. */
static uint64_t unused_of(const struct sc_memory_place *place)
{
    uint64_t unused = 0;
    size_t index;
    json_t *pool;
    json_array_foreach(json_object_get(place->record, "pools"), index, pool)
    {
        sc_shown_memory_add(&unused, sc_shown_memory_bytes(pool, "unused_bytes"));
    }
    return unused;
}

/* Writes how full a device is: once, however many processes report it. */
static void put_device(const struct process *process, const struct sc_memory_place *place)
{
    const char *const labels[] = {
        "hw_id", place->uuid ? place->uuid : place->name, "hw_type", "gpu",
        "host",  place->uuid ? NULL : process->host,      NULL};
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, labels[1]);
    sc_digest_word(&digester, labels[5] ? labels[5] : "");
    if (!place->knows_free || !note_first(process->exposition, &digester))
        return;
    put_sample(process->exposition, USAGE, labels,
               sc_shown_memory_less(place->total_bytes, place->free_bytes));
    put_sample(process->exposition, LIMIT, labels, place->total_bytes);
}

/* Writes the metrics of one place: a device, or the host, which has fewer. */
static void put_place(const struct process *process, const struct sc_memory_place *place)
{
    const char *kind;
    json_t *count;
    json_object_foreach(json_object_get(place->record, "kinds"), kind, count)
    {
        put(process, BYTES, place, "kind", kind, sc_shown_memory_bytes(count, "bytes"));
        put(process, BLOCKS, place, "kind", kind, sc_shown_memory_bytes(count, "blocks"));
    }
    put(process, PEAK, place, NULL, NULL, place->peak_bytes);
    put(process, UNUSED, place, NULL, NULL, unused_of(place));
    if (place->device == SC_MEMORY_HOST)
        return;
    if (place->knows_unaccounted)
        put(process, UNACCOUNTED, place, NULL, NULL, place->unaccounted_bytes);
    put_device(process, place);
}

/* Does the entry belong to the place? The host has no device number. */
static bool is_of_place(const json_t *entry, const struct sc_memory_place *place)
{
    const json_t *device = json_object_get(entry, "device");
    return json_is_integer(device) ? json_integer_value(device) == place->device
                                   : place->device == SC_MEMORY_HOST;
}

/* Writes the sums of memory by owner that the run itself reports for the place. Returns false if
 * the run reports no such sums. */
static bool put_told_owners(const struct process *process, const struct sc_memory *memory,
                            const struct sc_memory_place *place)
{
    const json_t *owners = json_object_get(memory->record, "owners");
    size_t index;
    json_t *owner;
    json_array_foreach(owners, index, owner)
    {
        if (is_of_place(owner, place))
            put(process, OWNER, place, "owner", sc_field_string(owner, "owner", "?"),
                sc_shown_memory_bytes(owner, "bytes"));
    }
    return json_array_size(owners) > 0;
}

/* Writes who holds memory at the place, by the accounts that the run lists: for runs that have not
 * added it up themselves. */
static void put_owners(const struct process *process, struct sc_scratch *scratch,
                       const struct sc_memory *memory, const struct sc_memory_place *place)
{
    struct sc_memory_tree tree = {.scratch = scratch};
    for (size_t i = 0; i < memory->account_count; i++) {
        const struct sc_memory_account *account = &memory->accounts[i];
        if (account->place == place && account->is_own)
            sc_memory_tree_add(&tree, &account->owner, 1, account);
    }
    sc_memory_tree_sort(&tree);
    for (const struct sc_memory_branch *one = tree.root.first; one; one = one->next)
        put(process, OWNER, place, "owner", one->name, one->bytes);
    sc_memory_tree_free(&tree);
}

/* Writes how many hazards the run has had by code, and whether it has ended. */
static void put_hazards(const struct process *process, const json_t *run)
{
    const json_t *summary = json_object_get(run, "summary");
    json_t *counts = sc_reader_run_counts(run), *count;
    const char *code;
    json_object_foreach(counts, code, count)
    {
        put(process, HAZARDS, NULL, "code", code, sc_shown_memory_bytes(counts, code));
    }
    put(process, ENDED, NULL, NULL, NULL, json_is_object(summary));
    if (json_is_object(summary))
        put(process, OPERATIONS, NULL, NULL, NULL, sc_shown_memory_bytes(summary, "operations"));
}

/* Writes the metrics of all places, by owners as frameworks tell them or else by stacks. */
static void put_memory(const struct process *process, struct sc_scratch *scratch,
                       const struct sc_memory *memory, const json_t *run)
{
    for (size_t i = 0; memory->record && i < memory->place_count; i++) {
        put_place(process, &memory->places[i]);
        if (!put_told_owners(process, memory, &memory->places[i]))
            put_owners(process, scratch, memory, &memory->places[i]);
    }
    if (memory->record)
        put(process, FAILURES, NULL, NULL, NULL,
            sc_shown_memory_bytes(json_object_get(run, "oom"), "count"));
}

/* Writes all samples of one process. Of several runs with the same pid, host and rank the newest
 * is written, which comes first here. */
static void put_run(struct exposition *exposition, struct sc_model *model, size_t index)
{
    const struct sc_run *run = sc_model_run(model, index);
    const json_t *line = json_object_get(run->record, "run");
    const struct sc_memory memory = sc_shown_memory_of_run(model, run);
    const struct process process = {
        exposition,
        sc_scratch_print(&model->scratch, "%" JSON_INTEGER_FORMAT, run->pid),
        sc_field_string(line, "host", ""),
        sc_field_string(line, "rank", NULL),
    };
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, process.pid);
    sc_digest_word(&digester, process.host);
    sc_digest_word(&digester, process.rank ? process.rank : "");
    if (!json_is_object(line) || !note_first(exposition, &digester))
        return;
    put_hazards(&process, run->record);
    put_memory(&process, &model->scratch, &memory, run->record);
}

/* ---- the whole ---- */

/* Writes the head of a metric and all its samples, which have to stand together. */
static void end_metric(FILE *out, struct exposition *exposition, enum metric metric)
{
    FILE *stream = exposition->streams[metric];
    if (!stream || fclose(stream) != 0)
        return;
    if (exposition->sizes[metric] > 0)
        fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s", metrics[metric].name, metrics[metric].help,
                metrics[metric].name, metrics[metric].type, exposition->texts[metric]);
    free(exposition->texts[metric]);
}

/* Writes the reports as metrics for Prometheus. Each metric's lines must stand together, so they
 * are collected in a text for each metric. If a pid came again on a host and rank, its newest run
 * counts: runs are taken from the end. */
void sc_as_prometheus(FILE *out, struct sc_model *model)
{
    struct exposition exposition = {0};
    for (int i = 0; i < METRICS; i++)
        exposition.streams[i] = open_memstream(&exposition.texts[i], &exposition.sizes[i]);
    for (size_t i = model->reader->run_count; i-- > 0;)
        put_run(&exposition, model, i);
    for (int i = 0; i < METRICS; i++)
        end_metric(out, &exposition, (enum metric)i);
    sc_table_free(&exposition.seen);
    sc_scratch_free(&exposition.scratch);
}
